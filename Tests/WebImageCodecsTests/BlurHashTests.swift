import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct BlurHashTests {
    /// The lines of a list of vectors, as words.
    private static func vectors(_ name: String) -> [[String]] {
        guard let data = try? Fixtures.data("BlurHash/\(name).txt") else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
    }

    private func code(_ string: String) -> WebImageError.Code? {
        do throws(WebImageError) {
            _ = try BlurHash(string)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `All vectors were found`() {
        #expect(Self.vectors("encoded").count == 42 && Self.vectors("shown").count == 9)
    }

    @Test(arguments: vectors("encoded"))
    func `The string of an image equals the C implementation's`(vector: [String]) throws {
        let image = Image(bitmap: try Fixtures.pixels("ThumbHash/\(vector[0]).pam").bitmap())
        let (x, y) = (try #require(Int(vector[1])), try #require(Int(vector[2])))
        let hash = try BlurHash(image, xComponents: x, yComponents: y)
        #expect(hash.string == vector[3] && hash.xComponents == x && hash.yComponents == y)
        #expect(try BlurHash(vector[3]) == hash && hash.description == vector[3])
    }

    @Test(arguments: vectors("shown"))
    func `The image of a string equals the C implementation's`(vector: [String]) throws {
        let image = try BlurHash(vector[1]).makeImage(
            width: try #require(Int(vector[2])),
            height: try #require(Int(vector[3])),
            punch: try #require(Double(vector[4]))
        )
        let found = try PixelDifference(image.bitmap, Fixtures.pixels("BlurHash/\(vector[0]).ppm"))
        #expect(found.maximum <= 1, "\(found)")
    }

    @Test func `Without a size, the image has 32 × 32 pixels, and more punch more contrast`() throws {
        let hash = try BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
        func range(_ punch: Double) throws -> Int {
            let image = try hash.makeImage(punch: punch)
            #expect(image.pixelWidth == 32 && image.pixelHeight == 32)
            let pixels = image.bitmap.pixels
            let greens = stride(from: 1, to: pixels.count, by: 4).map { Int(pixels[$0]) }
            return (greens.max() ?? 0) - (greens.min() ?? 0)
        }
        #expect(try range(0.5) < range(1) && range(1) < range(2))
        for punch in [0, -1, .nan] { #expect(try range(punch) == 0) }
        #expect(try range(.infinity) == 255)
    }

    @Test func `A string of another length is an error`() throws {
        let string = "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
        for count in 0..<string.count { #expect(code(String(string.prefix(count))) == .badImageData) }
        #expect(code(string + "0") == .badImageData && code(String(repeating: "~", count: 100_000)) == .badImageData)
        #expect(code(string) == nil)
    }

    @Test(arguments: ["00TSU ", "00TSU\"", "00TSU\n", "00TSU\u{0}", "00TSUé", "\\0TSUA", "🟥🟥"])
    func `A character outside base 83 is an error`(string: String) { #expect(code(string) == .badImageData) }

    @Test(arguments: ["}", "~"])
    func `Ten components down are an error`(digit: String) {
        for count in 0...200 { #expect(code(digit + String(repeating: "0", count: count)) == .badImageData) }
    }

    @Test(arguments: [(0, 3), (10, 3), (4, 0), (4, 10), (-1, 1), (Int.max, Int.min)])
    func `An image is encoded with 1 to 9 components`(x: Int, y: Int) throws {
        let error = #expect(throws: WebImageError.self) { try BlurHash(.tiny(), xComponents: x, yComponents: y) }
        #expect(error?.code == .encodingFailed)
    }

    @Test(arguments: [(0, 1), (1, 0), (-1, 1), (1025, 1), (1, Int.max)])
    func `Sides beyond 1024 pixels are an error before memory is allocated`(width: Int, height: Int) throws {
        let hash = try BlurHash("00TSUA")
        let error = #expect(throws: WebImageError.self) { try hash.makeImage(width: width, height: height) }
        #expect(error?.code == .limitExceeded)
    }

    @Test func `Any digits make an image`() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let flag = UInt8.random(in: 0...80, using: &random)
            let count = 4 + 2 * (Int(flag) % 9 + 1) * (Int(flag) / 9 + 1)
            let digits = [flag] + (1..<count).map { _ in UInt8.random(in: 0...82, using: &random) }
            let image = try BlurHash(digits: digits).makeImage(width: 7, height: 5, punch: 3)
            #expect(image.pixelWidth == 7 && image.pixelHeight == 5)
        }
    }

    @Test func `The orientation of the image is applied first`() throws {
        let upright = Image(bitmap: try Fixtures.pixels("ThumbHash/portrait.pam").bitmap())
        let stored = Image(bitmap: upright.bitmap, orientation: .down)
        let (first, second) = (try BlurHash(upright), try BlurHash(stored))
        #expect(first != second && first.string.dropFirst(2).prefix(4) == second.string.dropFirst(2).prefix(4))
    }

    @Test func `Transparent parts have the mean colour`() throws {
        let half = try Bitmap.make(8, 8) { x, _ in x < 4 ? [0, 0, 255, 255] : [0, 0, 0, 0] }
        #expect(try BlurHash(Image(bitmap: half), xComponents: 1, yComponents: 1).string == "00TI:j")
        let clear = try Bitmap.make(4, 4) { _, _ in [0, 0, 0, 0] }
        #expect(try BlurHash(Image(bitmap: clear), xComponents: 1, yComponents: 1).string == "000000")
    }
}
