import FoundationEssentials
import ModelTestSupport
import Testing

@testable import WebImageHTTP
@testable import WebImageSupport

@Suite struct BodyBufferTests {
    private func append(_ bytes: [UInt8], to buffer: inout BodyBuffer) -> WebImageError? {
        bytes.withUnsafeBytes { raw in
            do throws(WebImageError) {
                try buffer.append(raw)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func `Bytes already handed out do not change when more arrive`() {
        var buffer = BodyBuffer(limit: 10 << 20)
        var snapshots: [Data] = []
        var all: [UInt8] = []
        for step in 0..<200 {
            let bytes = [UInt8](repeating: UInt8(step), count: 700 * (step % 7) + 1)
            #expect(append(bytes, to: &buffer) == nil)
            all += bytes
            if let snapshot = buffer.snapshot() { snapshots.append(snapshot) }
        }
        for snapshot in snapshots { #expect(snapshot == Data(all.prefix(snapshot.count))) }
        let whole = buffer.takeData()
        let rest = buffer.snapshot()
        #expect(whole == Data(all) && rest == nil && snapshots.count == 200)
        #expect(snapshots[3] == Data(all.prefix(snapshots[3].count)))
    }

    @Test func `Bytes are returned as appended, for any division`() {
        let bytes = pattern(3_000_000)
        for (piece, expected) in [(1000, nil), (16384, 3_000_000), (777, 10), (100_000, Int64.max)] as [(Int, Int64?)] {
            var buffer = BodyBuffer(limit: 1 << 30)
            if let expected { buffer.expect(expected) }
            for start in stride(from: 0, to: bytes.count, by: piece) {
                #expect(append(Array(bytes[start..<min(start + piece, bytes.count)]), to: &buffer) == nil)
            }
            #expect(buffer.takeData() == Data(bytes))
            #expect(buffer.count == 0 && buffer.takeData() == nil)
        }
    }

    @Test func `An announced length is reserved up to 4 MiB, and beyond that once half of it has arrived`() {
        func capacity(_ expected: Int64?, after count: Int) -> Int {
            var buffer = BodyBuffer(limit: 64 << 20)
            if let expected { buffer.expect(expected) }
            #expect(append([UInt8](repeating: 1, count: count), to: &buffer) == nil)
            return buffer.capacity
        }
        #expect(capacity(64 << 20, after: 5000) == 4 << 20)
        #expect(capacity(6 << 20, after: 5 << 20) == 6 << 20, "further bytes need no second block")
        #expect(capacity(64 << 20, after: 5 << 20) == 10 << 20)
        #expect(capacity(nil, after: 5 << 20) == 5 << 20)
        #expect(capacity(1000, after: 5000) == 5000)
    }

    @Test func `A big block grows with its bytes, unless a reader holds it`() {
        var buffer = BodyBuffer(limit: 1 << 30, pool: BufferPool(capacity: 0))
        let bytes = pattern(3_000_000)
        var all: [UInt8] = []
        var seen: Data?
        for step in 0..<9 {
            #expect(append(bytes, to: &buffer) == nil)
            all += bytes
            if step == 4 { seen = buffer.snapshot() }
        }
        #expect(seen == Data(all.prefix(15_000_000)))
        #expect(buffer.takeData() == Data(all))
    }

    @Test func `No bytes are empty data`() {
        var buffer = BodyBuffer(limit: 10)
        buffer.expect(5)
        #expect(append([], to: &buffer) == nil)
        #expect(buffer.takeData() == nil)
    }

    @Test func `The limit holds to the byte`() {
        var buffer = BodyBuffer(limit: 10)
        buffer.expect(1 << 50)
        #expect(append([UInt8](repeating: 1, count: 10), to: &buffer) == nil)
        let error = append([1], to: &buffer)
        #expect(error?.limit == .init(name: "maximumResponseByteCount", allowed: 10, required: 11))
        #expect(buffer.takeData()?.count == 10)
    }

    @Test func `A huge announced length does not allocate memory up front`() {
        var buffer = BodyBuffer(limit: 1 << 40)
        buffer.expect(1 << 39)
        #expect(append([1], to: &buffer) == nil)
        #expect(buffer.capacity <= 4 << 20)
        for _ in 0..<8 { #expect(append([UInt8](repeating: 1, count: 1 << 20), to: &buffer) == nil) }
        #expect(buffer.capacity <= 16 << 20)
    }

    @Test func `Bytes are compared with the buffered ones, and nothing beyond them`() {
        var buffer = BodyBuffer(limit: 100_000)
        let isEmptyThere = buffer.holds(UnsafeRawBufferPointer(start: nil, count: 0), at: 0)
        #expect(isEmptyThere)
        let bytes = pattern(10_000)
        #expect(append(bytes, to: &buffer) == nil)
        func holds(_ part: ArraySlice<UInt8>, at offset: Int) -> Bool {
            part.withUnsafeBytes { buffer.holds($0, at: offset) }
        }
        #expect(holds(bytes[...], at: 0) && holds(bytes[9_000...], at: 9_000))
        #expect(!holds(bytes[9_000...], at: 8_999))
        #expect(!holds(bytes[9_000...], at: 9_001) && !holds(bytes[...], at: 1))
        #expect(!holds(bytes[..<1], at: -1) && !holds(bytes[..<1], at: 10_000) && !holds(bytes[..<1], at: .max))
    }

    @Test func `A modest announced length allocates exactly that`() {
        var buffer = BodyBuffer(limit: 1 << 30)
        buffer.expect(100_000)
        for _ in 0..<10 { #expect(append([UInt8](repeating: 1, count: 10_000), to: &buffer) == nil) }
        #expect(buffer.capacity == 100_000)
    }

    @Test func `Blocks return to the pool when the data or the buffer is released`() {
        let pool = BufferPool(capacity: 16 << 20)
        do {
            var buffer = BodyBuffer(limit: 1 << 20, pool: pool)
            #expect(append(pattern(200_000), to: &buffer) == nil)
            var data = buffer.takeData()
            #expect(data?.count == 200_000)
            let kept = pool.keptBytes
            data = nil
            #expect(pool.keptBytes > kept)
        }
        let kept = pool.keptBytes
        do {
            var buffer = BodyBuffer(limit: 1 << 20, pool: pool)
            buffer.expect(900_000)
            #expect(append([1], to: &buffer) == nil)
        }
        #expect(pool.keptBytes > kept)
    }
}
