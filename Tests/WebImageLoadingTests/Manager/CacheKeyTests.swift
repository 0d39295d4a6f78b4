import FoundationEssentials
import Testing
import WebImageSupport

@testable import WebImageCache
@testable import WebImageLoading

@Suite struct CacheFileNameTests {
    // The sums are those of Python's hashlib.
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("http://h/a.jpg", "fc1055309c8a2ba653b50d5eff0417fc.jpg"),
        ("http://h/a.jpg?x=1", "c69bdb04548d0112e7cbdbaf88e6c56d.jpg"),
        ("http://h/é.png", "1a64b10d52596ae3bb91a2a3b91a6c1e.png"),
        ("https://example.com/staticmap?center=48.8566,2.3522", "bef9e44ad3fe1efa200d3d13c6fbc1ef"),
        (String(repeating: "a", count: 300), "4e5475d125a33c6190718e75adc1b704"),
    ])
    func `A file name is the MD5 of the key and its extension`(key: String, name: String) {
        #expect(CacheFileName(key: key).string == name)
    }

    @Test(arguments: [
        ("http://h/a.jpg", "jpg"), ("http://h/a.jpg?x=1", "jpg"), ("http://h/a.jpg#f.png", "jpg"),
        ("http://h/staticmap?center=48.8566,2.3522&zoom=3", ""), ("http://h.com", ""), ("http://h", ""),
        ("http://h/a.jpg00%00", "jpg00"), ("http://h/x.tar.gz/", "gz"), ("http://h/.jpg", ""), ("http://h/a.", ""),
        ("http://h/a..", ""), ("http://h/..jpg", ""), ("http://h/a.j:p", "jp"), ("http://h/a.%2Fb", "b"),
        ("http://h/a.%2f%2e%2e", ".."), ("http://h/Mr. Smith", ""), ("http://h/Mr.%20Smith", ""), ("a.png", "png"),
        ("a/b.c/d", ""), ("/x/y.PNG", "PNG"), ("file:///x/y%20z.webp", "webp"), ("http://h/é.jpé", "jpé"),
        ("http://h/%C3%A9.jp%C3%A9", "jpé"), ("http://h/a.j%E4", ""), ("http://h/a.j%pg", "j%pg"), ("a.j%", "j%"),
        ("data:image/png;base64,iVBORw0KGgo=", ""), ("http://user:p.w@h:80/a", ""), ("?a.jpg", ""), ("#a.jpg", ""),
        ("", ""), (".", ""), ("..", ""), ("/", ""), (":", ""), ("a:b.gif", "gif"), ("http://h/a.jpg;v=1", "jpg;v=1"),
    ])
    func `The extension is that of the key's path`(key: String, ext: String) {
        #expect(CacheFileName.fileExtension(forKey: key) == ext)
        #expect(CacheFileName(key: key).string == Hashing.md5Hex(key, suffix: ext.isEmpty ? "" : "." + ext))
    }

    @Test(arguments: [
        "http://h/a.jpg", "http://h/a.jpg?x=1.2", "http://h/staticmap?center=48.8,2.3", "http://h/x.tar.gz/",
        "http://h/.jpg", "http://h/a.", "http://h/a..", "http://h/..jpg", "http://h/a.b c", "a.b c", "/x/y.png",
        "file:///x/y%20z.png", "http://h/%C3%A9.jp%C3%A9", "http://h/a.jpg#f.x", "http://h.com", "http://h/%E4.j%E4",
        "data:image/png;base64,AA.BB", "http://h/a.jpg;v=1", "http://user@h/a.gif", "https://h:8080/p/q.webp?w=1#z",
    ])
    func `The extension equals that of Foundation's URL`(key: String) {
        #expect(KeyParts(key).pathExtension == URL(string: key)?.pathExtension)
    }

    @Test func `An extension that makes the name longer than 255 bytes is left out`() {
        let longest = String(repeating: "x", count: 222)
        #expect(CacheFileName(key: "http://h/a." + longest).string.utf8.count == 255)
        #expect(CacheFileName(key: "http://h/a.x" + longest).string.utf8.count == 32)
        // Bytes count, not characters.
        let wide = String(repeating: "é", count: 112)
        #expect(CacheFileName(key: "http://h/a." + wide).string.utf8.count == 32)
    }

    @Test func `No key makes a name with a slash, or one that means a directory`() {
        for key in ["http://h/a.%2F..%2F..%2Fetc", "../../etc/passwd.x/..", "a.\0/b", "http://h/a.%00%3A%2F"] {
            let name = CacheFileName(key: key).string
            #expect(!name.utf8.contains(UInt8(ascii: "/")))
            #expect(!name.utf8.contains(0))
            #expect(CacheFileName.isEntryName(name.utf8))
        }
    }

    @Test(arguments: [
        ("0123456789abcdef0123456789abcdef", true), ("0123456789abcdef0123456789abcdef.jpg", true),
        ("0123456789abcdef0123456789abcdef.", false), ("0123456789ABCDEF0123456789abcdef", false),
        ("0123456789abcdef0123456789abcde", false), ("0123456789abcdef0123456789abcdeff", false),
        ("CACHEDIR.TAG", false), (".webimage-1.tmp", false), ("", false),
    ])
    func `Names of entries differ from other names`(name: String, isEntry: Bool) {
        #expect(CacheFileName.isEntryName(name.utf8) == isEntry)
        #expect(CacheFileName.isEntryName(name.utf8) == isEntry)
    }
}

@Suite struct CacheKeysTests {
    @Test(arguments: [
        ("http://h/a.jpg", "Flip", "http://h/a-Flip.jpg"),
        ("http://h/a.jpg?x=1#f", "Flip", "http://h/a-Flip.jpg?x=1#f"),
        ("http://u:p@h:8/a/b.c.png?q=1.2", "T", "http://u:p@h:8/a/b.c-T.png?q=1.2"),
        ("http://h/map?c=1.5", "T", "http://h/map?c=1.5-T"), ("http://h", "T", "http://h-T"),
        ("http://h/a.jpg", "R({1,2},0)", "http://h/a-R(%7B1,2%7D,0).jpg"),
        ("http://h/a.jpg", "Tint(#ff0000ff)", "http://h/a-Tint(%23ff0000ff).jpg"),
        ("http://h/a.jpg", "50% é?", "http://h/a-50%25%20%C3%A9%3F.jpg"),
        ("http://h/a%20b.jpg", "T", "http://h/a%20b-T.jpg"), ("http://h/a b.jpg", "T", "http://h/a b-T.jpg"),
        ("http://h/a%2Fb.jpg", "T", "http://h/a%2Fb-T.jpg"), ("http://h/Mr. Smith", "T", "http://h/Mr. Smith-T"),
        ("file:///x/a.jpg", "R({1,2},0)", "file:///x/a-R({1,2},0).jpg"), ("a.jpg", "R({1},0)", "a-R({1},0).jpg"),
        ("FILE:///x/a.jpg", "{", "FILE:///x/a-{.jpg"), ("a/b.c/d", "T", "a/b.c/d-T"), ("a.jpg?x=1", "T", "a-T.jpg?x=1"),
        ("", "T", "-T"), ("http://h/x.tar.gz/", "T", "http://h/x.tar-T.gz/"),
        ("http://h/é.jpg", "T", "http://h/é-T.jpg"),
        ("key", "T", "key-T"), ("http://h/.jpg", "T", "http://h/.jpg-T"),
    ])
    func `A transformer's key is inserted before the path extension`(key: String, transformer: String, expected: String)
    {
        #expect(CacheKeys.transformed(key, by: transformer) == expected)
    }

    @Test func `The first page has the key of the file, and the key of another page contains its number`() {
        #expect(CacheKeys.page("http://h/a.pdf?x=1", 0) == "http://h/a.pdf?x=1")
        #expect(CacheKeys.page("http://h/a.pdf?x=1", 2) == "http://h/a-Page(2).pdf?x=1")
        #expect(CacheKeys.page("key", 12) == "key-Page(12)")
        #expect(CacheKeys.mayBe(page: 1, CacheKeys.transformed(CacheKeys.page("http://h/a.pdf", 1), by: "Flip")))
        #expect(CacheKeys.videoTime("http://h/a.mp4?x=1", nil) == "http://h/a.mp4?x=1")
        #expect(CacheKeys.videoTime("http://h/a.mp4?x=1", 2.5) == "http://h/a-VideoTime(2.500000).mp4?x=1")
        #expect(!CacheKeys.mayBe(page: 1, "http://h/a.pdf") && !CacheKeys.mayBe(page: 1, "http://h/Page(1).pdf"))
    }

    @Test func `The preview of a raw file has the key of the file, and the developed image another one`() {
        #expect(CacheKeys.developed("http://h/a.dng?x=1", .preview) == "http://h/a.dng?x=1")
        #expect(CacheKeys.developed("http://h/a.dng?x=1", .full) == "http://h/a-Development(full).dng?x=1")
        #expect(CacheKeys.mayBe(.full, CacheKeys.transformed(CacheKeys.developed("key", .full), by: "Flip")))
        #expect(!CacheKeys.mayBe(.full, "http://h/Development(full).dng"))
        #expect(!CacheKeys.mayBe(.preview, CacheKeys.developed("key", .full)))
        #expect(CacheKeys.selection("a.dng", 2, .full) == CacheKeys.developed(CacheKeys.page("a.dng", 2), .full))
    }

    @Test func `Transformed keys of different keys differ`() {
        #expect(CacheKeys.transformed("a.jpg?x=1", by: "T") != CacheKeys.transformed("a.jpg?x=2", by: "T"))
    }

    @Test func `A thumbnail's key contains size and aspect`() {
        let size = ImageSize(width: 100, height: 100)
        #expect(
            CacheKeys.thumbnail("http://h/a.jpg?x=1", size: size, preserveAspectRatio: true)
                == "http://h/a-Thumbnail(%7B100.000000,100.000000%7D,1).jpg?x=1"
        )
        #expect(
            CacheKeys.thumbnail("key", size: ImageSize(width: 0.5, height: 1e-7), preserveAspectRatio: false)
                == "key-Thumbnail({0.500000,0.000000},0)"
        )
        #expect(
            CacheKeys.thumbnail("key", size: size, preserveAspectRatio: true, covers: true)
                == "key-Thumbnail({100.000000,100.000000},2)"
        )
        #expect(
            CacheKeys.thumbnail("key", size: size, preserveAspectRatio: false, covers: true)
                == CacheKeys.thumbnail("key", size: size, preserveAspectRatio: false)
        )
    }

    @Test(arguments: [
        "http://h/a.jpg", "http://h/a.jpg?x=1.5#f", "http://h/photo-Page(3)", "http://h/photo-Page(3).pdf", "key",
        "a.b/c",
        "file:///x/a.jpg", "http://h/map?c=1.5", "http://h/x.tar.gz/", "http://h/.jpg", "http://h/é-Thumbnail(1).jpg",
    ])
    func `A suffix is recognised in the exact form in which it is written, also before others`(key: String) {
        let size = ImageSize(width: 100, height: 40.5)
        func isThumbnail(_ key: String, _ width: Double = 100, covers: Bool = false) -> Bool {
            let size = ImageSize(width: width, height: 40.5)
            return CacheKeys.mayBeThumbnail(key, size: size, preserveAspectRatio: true, covers: covers)
        }
        #expect(!CacheKeys.mayBe(page: 2, key) && !CacheKeys.mayBe(.full, key) && !isThumbnail(key))
        let page = CacheKeys.page(key, 2)
        #expect(CacheKeys.mayBe(page: 2, page) && !CacheKeys.mayBe(page: 22, page) && !CacheKeys.mayBe(page: 0, page))
        let thumbnail = CacheKeys.thumbnail(page, size: size, preserveAspectRatio: true)
        #expect(isThumbnail(thumbnail) && !isThumbnail(thumbnail, 10) && !isThumbnail(thumbnail, covers: true))
        #expect(CacheKeys.mayBe(page: 2, thumbnail) && !CacheKeys.mayBe(page: 1, thumbnail))
        #expect(CacheKeys.mayBe(.full, CacheKeys.developed(page, .full)))
    }

    @Test(arguments: [
        "http://h/-Page(3).pdf", "-Page(3)", "http://h/a-Page(3).d/b.pdf", "http://h/a-Page(3)x.pdf",
        "http://h/a-Page(3", "",
        "http://h/a-Page(03).pdf", "http://h/a-Page(3)/b.pdf", "http://h/a.pdf?x=-Page(3)",
    ])
    func `Text that no key gets as its suffix is a part of the name`(key: String) {
        #expect(!CacheKeys.mayBe(page: 3, key))
    }

    // Expected values are those of C's printf("%f").
    @Test(
        arguments: [
            (0, "0.000000"), (-0.0, "-0.000000"), (1, "1.000000"), (0.1, "0.100000"), (1.0 / 3, "0.333333"),
            (2.0 / 3, "0.666667"), (0.9999999, "1.000000"), (123456.789012345, "123456.789012"), (-1.5, "-1.500000"),
            (0.0000005, "0.000000"), (0.0000015, "0.000002"), (0.0000025, "0.000003"), (2.5e-6, "0.000003"),
            (0.5000005, "0.500000"), (1234567890123, "1234567890123.000000"), (4294967295.5, "4294967295.500000"),
            (.infinity, "inf"), (-.infinity, "-inf"), (.nan, "nan"), (1e-300, "0.000000"),
        ] as [(Double, String)]
    )
    func `Numbers have six decimals`(value: Double, text: String) {
        #expect(FixedDecimal.string(value) == text)
    }

    @Test func `A number of any size does not trap`() {
        #expect(FixedDecimal.string(1e300) == "1e+300")
        #expect(FixedDecimal.string(0x1p63) == "9.223372036854776e+18")
    }

    @Test(arguments: [
        ("a@2x.png", 2.0), ("http://h/a@2x.png", 2), ("http://h/a@3x.png?q", 3), ("http://h/a%402x.png", 2),
        ("https://h/a%403x.png", 3), ("file:///a%402x.png", 1), ("@2x.png", 1), ("a@4x.png", 1), ("http://h/a@2x/b", 1),
        ("a@3x.@2x.png", 2), ("", 1), ("http://h/a.png", 1),
    ])
    func `The scale factor is read from the key`(key: String, factor: Double) {
        #expect(ImageScaleFactor.forKey(key) == factor)
    }
}
