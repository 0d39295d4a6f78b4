import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

/// The texts of PNG files, as desktops write them into thumbnails.
@Suite(.tags(.addressSanitizer)) struct PNGTextsTests {
    private let keywords: Set = ["Thumb::URI", "Thumb::MTime", "Thumb::Size", "Software"]

    private func data(_ name: String) throws -> Data { try Fixtures.data("Thumbnails/\(name).png") }

    @Test func `Plain and compressed texts are read`() throws {
        let uri = "file:///tmp/webimage%20fixtures/A%20photo%3B%20(1)%20%5B%C3%B6%5D.jpg"
        let gnome = try #require(try PNGTexts(data("gnome"), keywords: keywords))
        #expect((gnome.width, gnome.height) == (256, 192))
        #expect(gnome["Thumb::URI"] == uri && gnome["Thumb::MTime"] == "1700000000" && gnome["Thumb::Size"] == nil)
        #expect(gnome["Software"] == "GNOME::ThumbnailFactory")
        let kde = try #require(try PNGTexts(data("kde"), keywords: keywords))
        #expect((kde.width, kde.height) == (256, 192))
        #expect(kde["Thumb::URI"] == uri && kde["Thumb::MTime"] == "1700000000" && kde["Thumb::Size"] == "29724")
        #expect(kde["Software"] == "KDE Thumbnail Generator Images (GIF, PNG, BMP, ...)")
        #expect(kde["Thumb::Mimetype"] == nil, "not asked for")
    }

    @Test func `Texts are added after the header, and the pixels stay`() throws {
        let photo = try Fixtures.data("PNG/photo-rgb.png")
        let texts = [("Thumb::URI", "file:///a"), ("Thumb::MTime", "12")]
        let made = try #require(PNGTexts.adding(texts.map { (keyword: $0.0, text: $0.1) }, to: photo))
        let read = try #require(PNGTexts(made, keywords: keywords))
        #expect(read["Thumb::URI"] == "file:///a" && read["Thumb::MTime"] == "12")
        let coder = PNGCoder()
        let (before, after) = try (
            coder.decode(photo, options: ImageDecodeOptions()), coder.decode(made, options: ImageDecodeOptions())
        )
        #expect(before.bitmap.pixels == after.bitmap.pixels)
        #expect(try PNGTexts.adding([], to: Fixtures.data("JPEG/photo.jpg")) == nil)
        let twice = try #require(PNGTexts.adding([("Thumb::URI", "file:///b")], to: made))
        #expect(PNGTexts(twice, keywords: keywords) == nil, "which of two texts is meant is unknown")
    }

    @Test func `A text that inflates to more than 16 KiB is refused, unless it is not asked for`() throws {
        let data = try Fixtures.data("PNG/big-compressed-text.png")
        #expect(PNGTexts(data, keywords: ["Comment"]) == nil)
        #expect(PNGTexts(data, keywords: keywords) != nil)
    }

    @Test(arguments: ["gnome", "kde"]) func `Damaged files have no texts or the right ones`(name: String) throws {
        let data = try data(name)
        let whole = try #require(PNGTexts(data, keywords: keywords))
        for damaged in DamagedFiles.truncations(of: data) { #expect(PNGTexts(damaged, keywords: keywords) == nil) }
        for damaged in DamagedFiles.corruptions(of: data.prefix(400)) {
            guard let texts = PNGTexts(damaged + data.dropFirst(400), keywords: keywords) else { continue }
            for keyword in keywords { #expect(texts[keyword] == nil || texts[keyword] == whole[keyword]) }
        }
        // With right checksums, the texts may be any; they are read without a crash.
        for damaged in DamagedFiles.corruptions(of: data.prefix(400), seed: 7) {
            _ = PNGTexts(CRC32.repairingPNG(damaged + data.dropFirst(400)), keywords: keywords)
        }
    }
}
