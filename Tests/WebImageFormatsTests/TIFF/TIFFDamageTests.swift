import ModelTestSupport
import TestSupport
import Testing
import WebImageTIFF

@Suite(.tags(.addressSanitizer)) struct TIFFDamageTests {
    private static let names = [
        "gray-12bit-tiles", "rgb-float32", "palette-4bit", "rgba-16bit-planes", "same-lzw-predictor",
        "same-planes-tiles",
        "same-bigtiff", "same-packbits", "fax-g3", "fax-g4", "jpeg-ycbcr", "jpeg-tiles", "icc-cmyk", "ycbcr-4x2",
        "cielab", "pages-3", "orientation-6",
    ]

    @Test(arguments: names)
    func `Damage never traps`(name: String) throws {
        let data = try Fixtures.data("TIFF/\(name).tiff")
        for damaged in DamagedFiles.truncations(of: data) + DamagedFiles.corruptions(of: data, count: 40) {
            #expect(DamagedFiles.complaint(of: TIFFCoder(), about: damaged) == nil)
        }
        // Most numbers are in the directory.
        for damaged in DamagedFiles.corruptions(of: data.suffix(220), count: 40) {
            let file = data.dropLast(220) + damaged
            #expect(DamagedFiles.complaint(of: TIFFCoder(), about: file) == nil)
        }
    }
}
