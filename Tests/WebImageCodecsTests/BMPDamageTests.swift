import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct BMPDamageTests {
    private static let names = [
        "header12-8bit", "header40-4bit", "header40-16bit", "header108-32bit-swapped", "header124-32bit-alpha", "rle8",
        "rle4-delta", "rle24-os2", "embedded-jpeg", "embedded-png", "icc-wide", "short-palette",
    ]

    @Test(arguments: names)
    func `A truncated file is an error or the whole image`(name: String) throws {
        let data = try Fixtures.data("BMP/\(name).bmp")
        for part in DamagedFiles.truncations(of: data) {
            #expect(DamagedFiles.complaint(of: BMPCoder(), about: part) == nil)
            #expect((try? BMPCoder().decode(part, options: .init())) == nil || name == "icc-wide")
        }
    }

    @Test(arguments: names)
    func `Random damage never traps`(name: String) throws {
        let data = try Fixtures.data("BMP/\(name).bmp")
        for damaged in DamagedFiles.corruptions(of: data) {
            #expect(DamagedFiles.complaint(of: BMPCoder(), about: damaged) == nil)
        }
        // The headers contain the numbers.
        for damaged in DamagedFiles.corruptions(of: data.prefix(60)) {
            let file = damaged + data.dropFirst(60)
            #expect(DamagedFiles.complaint(of: BMPCoder(), about: file) == nil)
        }
    }
}
