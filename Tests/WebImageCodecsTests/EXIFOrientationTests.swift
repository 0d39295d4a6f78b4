import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct EXIFOrientationTests {
    private func read(_ bytes: [UInt8]) -> ImageOrientation {
        bytes.withUnsafeBytes { EXIFOrientation.read(tiff: $0) }
    }

    /// A directory of one entry.
    private func tiff(_ entry: [UInt8], big: Bool, offset: UInt8 = 8, count: UInt8 = 1) -> [UInt8] {
        big
            ? [0x4D, 0x4D, 0, 42, 0, 0, 0, offset, 0, count] + entry
            : [0x49, 0x49, 42, 0, offset, 0, 0, 0, count, 0] + entry
    }

    @Test(arguments: ImageOrientation.allCases)
    func `Both byte orders and all integer types are read`(_ orientation: ImageOrientation) {
        let value = UInt8(orientation.rawValue)
        #expect(read(tiff([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0], big: true)) == orientation)
        #expect(read(tiff([0x12, 0x01, 3, 0, 1, 0, 0, 0, value, 0, 0, 0], big: false)) == orientation)
        #expect(read(tiff([0x12, 0x01, 4, 0, 1, 0, 0, 0, value, 0, 0, 0], big: false)) == orientation)
        // Signed: some encoders write 9, which is SLONG.
        #expect(read(tiff([0x12, 0x01, 9, 0, 1, 0, 0, 0, value, 0, 0, 0], big: false)) == orientation)
        #expect(read(tiff([0x01, 0x12, 0, 9, 0, 0, 0, 1, 0, 0, 0, value], big: true)) == orientation)
        #expect(read(tiff([0x01, 0x12, 0, 8, 0, 0, 0, 1, 0, value, 0, 0], big: true)) == orientation)
        #expect(read(tiff([0x12, 0x01, 6, 0, 1, 0, 0, 0, value, 0, 0, 0], big: false)) == orientation)
        #expect(read(tiff([0x01, 0x12, 0, 1, 0, 0, 0, 1, value, 0, 0, 0], big: true)) == orientation)
    }

    @Test func `An invalid orientation is upright`() {
        let good: [UInt8] = [0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
        #expect(read([]) == .up)
        #expect(read(Array("II".utf8)) == .up)
        #expect(read(tiff(good, big: false, offset: 200)) == .up)
        #expect(read([0x49, 0x49, 42, 0, 0xFF, 0xFF, 0xFF, 0xFF]) == .up)
        #expect(read([0x49, 0x49, 42, 0, 8, 0, 0, 0, 0xFF, 0xFF]) == .up)
        #expect(read([0x49, 0x4D, 42, 0, 8, 0, 0, 0, 1, 0] + good) == .up)
        #expect(read([0x49, 0x49, 43, 0, 8, 0, 0, 0, 1, 0] + good) == .up)
        #expect(read(tiff([0x12, 0x01, 3, 0, 1, 0, 0, 0, 9, 0, 0, 0], big: false)) == .up)
        #expect(read(tiff([0x12, 0x01, 3, 0, 2, 0, 0, 0, 6, 0, 0, 0], big: false)) == .up)
        #expect(read(tiff([0x12, 0x01, 2, 0, 1, 0, 0, 0, 6, 0, 0, 0], big: false)) == .up)
        #expect(read(tiff([0x12, 0x01, 4, 0, 1, 0, 0, 0, 6, 0, 0, 0x80], big: false)) == .up)
        #expect(read(tiff([0x12, 0x01, 9, 0, 1, 0, 0, 0, 0xFA, 0xFF, 0xFF, 0xFF], big: false)) == .up)
    }

    @Test func `Truncated and random blocks never trap`() {
        let good = tiff([0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0], big: false)
        #expect(read(good) == .right)
        for count in 0..<good.count - 2 { #expect(read(Array(good.prefix(count))) == .up) }
        var random = SeededGenerator(seed: 1)
        for _ in 0..<5000 {
            var bytes = good + (0..<64).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            for _ in 0..<3 { bytes[4 + Int(random.next() % 60)] = UInt8(truncatingIfNeeded: random.next()) }
            _ = read(bytes)
        }
    }
}
