import FoundationEssentials
import TestSupport
import Testing

@testable import WebImageCache

@Suite struct ResponseSlotsTests {
    private let slots = ResponseSlots(size: 512, seed: 0x1234_5678_9ABC_DEF0)

    /// Both slots, each with these bytes and that number, or empty.
    private func region(_ first: (String, UInt64)?, _ second: (String, UInt64)?) throws -> [UInt8] {
        var output: [UInt8] = []
        for slot in [first, second] {
            var bytes: [UInt8] = []
            if let slot { bytes = try #require(slots.encoded(Data(slot.0.utf8), sequence: slot.1)) }
            output += bytes + [UInt8](repeating: 0, count: 512 - bytes.count)
        }
        return output
    }

    private func content(_ region: [UInt8], _ slots: ResponseSlots? = nil) -> ResponseSlots.Content? {
        region.withUnsafeBytes { (slots ?? self.slots).content(of: $0).valid }
    }

    @Test func `A slot is laid out as documented`() throws {
        let bytes = try #require(slots.encoded(Data("ab".utf8), sequence: 0x0102))
        #expect(bytes.count == 26)
        #expect(Array(bytes[8..<16]) == [2, 1, 0, 0, 0, 0, 0, 0])
        #expect(Array(bytes[16..<24]) == [2, 0, 0, 0, 0, 0, 0, 0])
        #expect(Array(bytes[24...]) == Array("ab".utf8))
        let hash = bytes[8...].withUnsafeBytes { Hashing.xxh3($0, seed: slots.seed) }
        #expect(withUnsafeBytes(of: hash.littleEndian) { Array($0) } == Array(bytes[..<8]))
    }

    @Test func `The valid slot with the higher number counts`() throws {
        #expect(
            content(try region(("a", 1), nil)) == ResponseSlots.Content(index: 0, sequence: 1, bytes: Data("a".utf8))
        )
        #expect(
            content(try region(nil, ("b", 9))) == ResponseSlots.Content(index: 1, sequence: 9, bytes: Data("b".utf8))
        )
        #expect(content(try region(("a", 1), ("b", 2)))?.bytes == Data("b".utf8))
        #expect(content(try region(("a", 3), ("b", 2)))?.bytes == Data("a".utf8))
        #expect(content(try region(("a", .max), ("b", .max - 1)))?.sequence == .max)
        // Nobody writes these; they must give the same result each time.
        #expect(content(try region(("a", 2), ("b", 2)))?.index == 0)
        #expect(content(try region(("a", 0), nil)) == nil, "0 is none")
        #expect(content(try region(nil, nil)) == nil)
        #expect(content([]) == nil && content([UInt8](repeating: 0, count: 1023)) == nil)
    }

    @Test func `A flipped bit anywhere in a slot's content leaves the other one`() throws {
        let whole = try region(("older", 4), ("newer", 5))
        for position in 512..<(512 + 24 + 5) {
            for bit in 0..<8 {
                var broken = whole
                broken[position] ^= 1 << bit
                #expect(content(broken)?.bytes == Data("older".utf8), "byte \(position) bit \(bit)")
                broken[3] ^= 1
                #expect(content(broken) == nil)
            }
        }
        var padded = whole
        for position in 541..<1024 { padded[position] ^= 0xFF }
        #expect(content(padded)?.bytes == Data("newer".utf8), "the bytes after it are unused")
    }

    @Test func `A slot of another entry is invalid`() throws {
        let whole = try region(("a", 4), ("b", 5))
        #expect(content(whole, ResponseSlots(size: 512, seed: slots.seed ^ 1)) == nil)
    }

    @Test func `Sizes leave room to grow and have limits`() throws {
        for count in [0, 1, 390, 391, 400, 2_000, 10_000, 30_000] {
            let size = try #require(ResponseSlots.size(for: Data(count: count)))
            #expect(size % 256 == 0 && size >= 512)
            #expect(size >= 24 + count + count / 4 && size < max(513, 24 + count + count / 4 + 256))
        }
        let most = ResponseSlots.largestSize - ResponseSlots.headerSize
        #expect(ResponseSlots.size(for: Data(count: most)) == ResponseSlots.largestSize)
        #expect(ResponseSlots.size(for: Data(count: most + 1)) == nil)
        #expect(slots.encoded(Data(count: 488), sequence: 1)?.count == 512)
        #expect(slots.encoded(Data(count: 489), sequence: 1) == nil)
    }

    @Test func `An amendment is written to the slot that does not count`() throws {
        let first = slots.amendment(to: Data("x".utf8), after: nil)
        #expect(first?.offset == 0 && first?.bytes == slots.encoded(Data("x".utf8), sequence: 1))
        let second = slots.amendment(to: Data(), after: ResponseSlots.Content(index: 0, sequence: 7, bytes: Data()))
        #expect(second?.offset == 512 && second?.bytes == slots.encoded(Data(), sequence: 8))
        #expect(
            slots.amendment(to: Data(), after: ResponseSlots.Content(index: 1, sequence: 8, bytes: Data()))?.offset == 0
        )
        #expect(
            slots.amendment(to: Data(), after: ResponseSlots.Content(index: 1, sequence: .max, bytes: Data())) == nil
        )
        #expect(slots.amendment(to: Data(count: 600), after: nil) == nil)
    }

    @Test func `Slots of random bytes are invalid, and do not trap`() {
        var random = SeededGenerator(seed: 3)
        for round in 0..<2_000 {
            let size = [24, 25, 64, 512, 1024][round % 5]
            let bytes = (0..<2 * size).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(content(bytes, ResponseSlots(size: size, seed: UInt64(round))) == nil)
        }
    }
}
