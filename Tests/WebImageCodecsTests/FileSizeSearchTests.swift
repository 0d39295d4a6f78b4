import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct FileSizeSearchTests {
    /// Runs a search over an encoder that makes so many bytes for a quality in hundredths.
    private func search(
        _ limit: Int,
        isLossless: Bool = false,
        byteCount: (Int) -> Int
    ) throws -> (count: Int, tries: [Int]) {
        var options = ImageEncodeOptions()
        options.maxFileSize = limit
        options.compressionQuality = 0.5
        var tries: [Int] = []
        let data = try options.withinFileSize(isLossless: isLossless) { (options) throws(WebImageError) in
            #expect(options.maxFileSize == 0)
            tries.append(Int((options.compressionQuality * 100).rounded()))
            return Data(count: byteCount(tries[tries.count - 1]))
        }
        return (data.count, tries)
    }

    @Test func `Without a limit the image is encoded once, with the requested quality`() throws {
        #expect(try search(0) { $0 * 10 }.tries == [50])
    }

    @Test func `An image that fits in best quality is encoded once`() throws {
        #expect(try search(1000) { $0 * 10 }.tries == [100])
    }

    @Test func `The best quality that fits is found within eight encodings`() throws {
        for limit in 0..<100 {
            let found = try search(limit * 10 + 5) { $0 * 10 }
            #expect(found.count == limit * 10 && found.tries.count <= 8)
        }
    }

    @Test func `A size that cannot be reached is an error with the size needed`() throws {
        let error = #expect(throws: WebImageError.self) { try search(99) { $0 * 10 + 100 } }
        #expect(error?.code == .limitExceeded && error?.limit?.name == "maxFileSize")
        #expect(error?.limit?.allowed == 99 && error?.limit?.required == 100)
    }

    @Test func `Lossless encoding has nothing to search`() throws {
        #expect(try search(500, isLossless: true) { _ in 500 }.tries == [50])
        let error = #expect(throws: WebImageError.self) { try search(499, isLossless: true) { _ in 500 } }
        #expect(error?.limit?.required == 500)
    }

    @Test func `A result is never too big even where bytes do not grow with quality`() throws {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<200 {
            let sizes = (0...100).map { $0 * 10 + Int.random(in: 0..<40, using: &generator) }
            guard let found = try? search(500, byteCount: { sizes[$0] }) else { continue }
            #expect(found.count <= 500 && found.count > 400)
        }
    }
}
