import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import webimage_gallery

/// The images that the gallery finds in folders and lists; without a window.
@Suite struct GalleryListTests {
    private let directory = TemporaryDirectory()

    private func make(_ names: String...) throws {
        for name in names { try Data("x".utf8).write(to: URL(filePath: directory.path(name))) }
    }

    private func list(_ text: String, _ name: String = "list.txt") throws -> ImageList {
        try Data(text.utf8).write(to: URL(filePath: directory.path(name)))
        return ImageList([directory.path(name)])
    }

    @Test func `A folder is in natural sort order`() throws {
        try make(
            "IMG_10.jpg",
            "IMG_2.jpg",
            "img_1.PNG",
            "Zebra.png",
            "apple.webp",
            "007.gif",
            "7.gif",
            ".hidden.png",
            "notes.txt"
        )
        let found = ImageList([directory.path("")])
        #expect(found.complaints.isEmpty)
        #expect(
            found.items.map(\.title) == [
                "007.gif", "7.gif", "apple.webp", "img_1.PNG", "IMG_2.jpg", "IMG_10.jpg", "Zebra.png",
            ]
        )
        #expect(found.items[0].url == URL(filePath: directory.path("") + "/007.gif"))
    }

    @Test(arguments: [
        ("a", "b"), ("a2", "a10"), ("a", "a1"), ("A", "a"), ("x01", "x1"), ("x1", "x01a"), ("9", "10"), ("", "a"),
        ("a99999999999999999999998", "a99999999999999999999999"), ("1a", "a"),
    ])
    func `Names have a natural order, in one direction only`(first: String, second: String) {
        #expect(NaturalOrder.precedes(first, second))
        #expect(!NaturalOrder.precedes(second, first))
        #expect(!NaturalOrder.precedes(first, first))
    }

    @Test func `A list may begin with a byte order mark, and contains relative files and addresses`() throws {
        try make("a.png", "b:c.png")
        let found = try list(
            "\u{FEFF}a.png\r\n# no\n\n  b:c.png  \nhttps://example.test/d.png\ndata:image/png;base64,AA\n/etc/none.png\n"
        )
        #expect(found.items.map(\.title) == ["a.png", "b:c.png", "d.png", "data"])
        #expect(found.complaints == ["/etc/none.png: no such file or folder, and not a URL"])
    }

    @Test func `A list in the working folder and one in the root contain relative files`() throws {
        #expect(try list("none-here.png").complaints.first?.hasPrefix(directory.path("none-here.png")) == true)
        // Not read, so the root is not written to: only names are examined.
        #expect(ImageList(["/none-here.txt"]).complaints.count == 1)
    }

    @Test func `Without images the reason is given`() throws {
        #expect(ImageList([directory.path("")]).complaints.first?.hasSuffix(": the folder has no images") == true)
        #expect(try list("# nothing\n").complaints.first?.hasSuffix(": the list contains no images") == true)
        #expect(ImageList(["ftp://example.test/a.png"]).complaints.count == 1)
        #expect(ImageList(["no such thing"]).complaints.first?.contains("no such file") == true)
        #expect(
            ImageList([String(repeating: "x", count: 5000)]).complaints.first?.contains("File name too long") == true
        )
    }

    @Test func `An unreadable folder is reported`() throws {
        let path = directory.path("closed")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try #require(chmod(path, 0) == 0)
        defer { chmod(path, 0o700) }
        // Root may read everything.
        guard geteuid() != 0 else { return }
        #expect(ImageList([path]).complaints.first?.contains("Permission denied") == true)
    }

    @Test func `A list that is too big is not read`() throws {
        let path = directory.path("big.txt")
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        try #require(truncate(path, (16 << 20) + 1) == 0)
        #expect(ImageList([path]).complaints.first?.contains("larger than 16 MiB") == true)
    }

    @Test func `A name with line breaks, direction marks or great length is a title on one line`() throws {
        let name = "a\nb\u{202E}gnp.png"
        try make(name)
        #expect(ImageList([directory.path("")]).items.map(\.title) == ["a b gnp.png"])
        #expect(PlainText.line(String(repeating: "a", count: 500), most: 5) == "aaaaa…")
        #expect(PlainText.line("e" + String(repeating: "\u{301}", count: 500), most: 5).unicodeScalars.count == 6)
        #expect(PlainText.lines("a\nb\u{7}", most: 9) == "a\nb ")
        #expect(PlainText.line("👩‍👩‍👧", most: 9) == "👩‍👩‍👧")
    }
}
