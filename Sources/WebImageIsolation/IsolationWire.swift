/// The error for an invalid message: its sender is not trusted any more.
struct WireError: Error, Equatable {
    let problem: String
    init(_ problem: String) { self.problem = problem }
}

/// Serializes values. Numbers take eight bytes, in the machine's order: both ends are on the same machine.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ value: UInt64) { withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) } }
    mutating func write(_ value: Int) { write(UInt64(bitPattern: Int64(value))) }
    mutating func write(_ value: Double) { write(value.bitPattern) }
    mutating func write(_ value: Bool) { write(value ? 1 : 0) }

    mutating func write(_ text: String) {
        let text = Array(text.utf8)
        write(text.count)
        bytes.append(contentsOf: text)
    }

    mutating func write(_ values: [Double]) {
        write(values.count)
        for value in values { write(value) }
    }

    /// Writes a flag, then the value if there is one.
    mutating func write<Value>(_ value: Value?, _ body: (inout WireWriter, Value) -> Void) {
        write(value != nil)
        if let value { body(&self, value) }
    }
}

/// Parses values from untrusted bytes.
struct WireReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private var rest: Int { bytes.count - offset }

    mutating func word() throws(WireError) -> UInt64 {
        guard rest >= 8 else { throw WireError("it is too short") }
        defer { offset += 8 }
        return bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    mutating func int() throws(WireError) -> Int { Int(Int64(bitPattern: try word())) }

    /// Reads a number that must lie in a range.
    mutating func int(_ range: ClosedRange<Int>, _ name: StaticString) throws(WireError) -> Int {
        let value = try int()
        guard range.contains(value) else { throw WireError("\(name) is \(value)") }
        return value
    }

    mutating func double() throws(WireError) -> Double { Double(bitPattern: try word()) }
    mutating func bool() throws(WireError) -> Bool { try int(0...1, "a flag") == 1 }

    mutating func text(atMost limit: Int) throws(WireError) -> String {
        let count = try int(0...limit, "the length of a text")
        guard count <= rest else { throw WireError("a text is cut off") }
        defer { offset += count }
        return String(decoding: bytes[(bytes.startIndex + offset)..<(bytes.startIndex + offset + count)], as: UTF8.self)
    }

    /// Reads durations in seconds, which must be finite and not negative.
    mutating func seconds(atMost limit: Int) throws(WireError) -> [Double] {
        let count = try int(0...limit, "the number of times")
        guard count <= rest / 8 else { throw WireError("times are cut off") }
        var values: [Double] = []
        values.reserveCapacity(count)
        for _ in 0..<count {
            let value = try double()
            guard value >= 0, value.isFinite else { throw WireError("a time is \(value)") }
            values.append(value)
        }
        return values
    }

    mutating func optional<Value>(
        _ body: (inout WireReader) throws(WireError) -> Value
    ) throws(WireError) -> Value? {
        guard try bool() else { return nil }
        return try body(&self)
    }

    /// Checks that no bytes remain.
    func end() throws(WireError) {
        guard rest == 0 else { throw WireError("\(rest) bytes are too many") }
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes in memory, with typed throws.
    func read<Result>(_ body: (UnsafeRawBufferPointer) throws(WireError) -> Result) throws(WireError) -> Result {
        try span.bytes.withUnsafeBytes(body)
    }
}
