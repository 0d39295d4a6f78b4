import FoundationEssentials

/// Reads the replies of Redis or Valkey from bytes that arrive in pieces. A pure value.
///
/// The server is not trusted: every length is checked against a limit before anything is allocated, and nothing is allocated because
/// of a claimed length, except a buffer for the string that is arriving. After a failure, the rest of the stream has no meaning, and
/// every further call fails with the same error.
struct RESPReader: Sendable {
    /// The limits of one reply.
    struct Limits: Sendable, Hashable {
        /// The number of values inside each other.
        var depth = 8
        /// The number of bytes of one string.
        var stringByteCount = 16 << 20
        /// The number of bytes of a line: a simple string, a number, an error, a length.
        var lineByteCount = 16 << 10
        /// The number of members of all arrays, maps and sets together.
        var memberCount = 1 << 18
        /// The number of bytes of the whole reply.
        var byteCount = 32 << 20
    }

    enum Failure: Error, Hashable {
        /// The bytes do not follow the protocol.
        case malformed
        /// A reply exceeds a limit.
        case exceedsLimits
    }

    private enum Kind { case array, set, map, push, attribute }

    /// An array, map or set whose members are arriving.
    private struct Frame {
        let kind: Kind
        var missing: Int
        var members: [RESPValue] = []
    }

    /// A string whose length is known.
    private struct PendingString {
        let type: UInt8
        let byteCount: Int
    }

    let limits: Limits
    private var buffer: [UInt8] = []
    /// The first byte that has not been read.
    private var start = 0
    /// The number of bytes from `start` that contain no end of a line.
    private var scannedCount = 0
    private var frames: [Frame] = []
    private var pendingString: PendingString?
    /// The bytes and members of the current reply.
    private var byteCount = 0
    private var memberCount = 0
    private var failure: Failure?

    init(limits: Limits = Limits()) { self.limits = limits }

    /// The number of bytes that have arrived and were not read yet.
    var bufferedByteCount: Int { buffer.count - start }

    /// Indicates whether a part of a reply has arrived.
    var isInsideReply: Bool { bufferedByteCount > 0 || !frames.isEmpty || pendingString != nil }

    /// Adds bytes that have arrived.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start > 0, start == buffer.count || start >= 64 << 10 {
            buffer.removeSubrange(..<start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next complete reply; nil if more bytes are needed.
    mutating func next() throws(Failure) -> RESPValue? {
        if let failure { throw failure }
        do throws(Failure) {
            while let value = try nextValue() {
                guard let reply = try deliver(value) else { continue }
                (byteCount, memberCount) = (0, 0)
                return reply
            }
            return nil
        } catch {
            failure = error
            (buffer, start, frames) = ([], 0, [])
            throw error
        }
    }

    // MARK: Values

    /// Returns the next value without members, or an empty one with; nil if more bytes are needed.
    private mutating func nextValue() throws(Failure) -> RESPValue? {
        while true {
            if let pendingString { return try string(pendingString) }
            guard let line = try nextLine() else { return nil }
            guard let type = line.first else { throw .malformed }
            let content = line.dropFirst()
            switch type {
            case UInt8(ascii: "+"): return .status(String(decoding: content, as: UTF8.self))
            case UInt8(ascii: "-"): return .error(String(decoding: content, as: UTF8.self))
            case UInt8(ascii: ":"): return .number(try Self.number(content))
            case UInt8(ascii: "_"):
                guard content.isEmpty else { throw .malformed }
                return .null
            case UInt8(ascii: "#"): return .boolean(try Self.boolean(content))
            case UInt8(ascii: ","): return .double(try Self.text(content, among: Self.doubleCharacters))
            case UInt8(ascii: "("): return .bigNumber(try Self.text(content, among: Self.bigNumberCharacters))
            case UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "="):
                guard let count = try Self.length(content, mayBeNull: type == UInt8(ascii: "$")) else { return .null }
                guard count <= limits.stringByteCount, count <= limits.byteCount - byteCount else {
                    throw .exceedsLimits
                }
                pendingString = PendingString(type: type, byteCount: count)
            default:
                if let value = try open(type, content) { return value }
            }
        }
    }

    /// Begins a value with members; returns it if it is null.
    private mutating func open(_ type: UInt8, _ content: ArraySlice<UInt8>) throws(Failure) -> RESPValue? {
        let kind: Kind
        switch type {
        case UInt8(ascii: "*"): kind = .array
        case UInt8(ascii: "~"): kind = .set
        case UInt8(ascii: "%"): kind = .map
        case UInt8(ascii: ">"): kind = .push
        case UInt8(ascii: "|"): kind = .attribute
        default: throw .malformed
        }
        guard kind != .push || frames.isEmpty else { throw .malformed }
        guard let count = try Self.length(content, mayBeNull: kind == .array) else { return .null }
        let hasPairs = kind == .map || kind == .attribute
        guard frames.count < limits.depth, count <= limits.memberCount else { throw .exceedsLimits }
        let missing = hasPairs ? 2 * count : count
        guard missing <= limits.memberCount - memberCount else { throw .exceedsLimits }
        memberCount += missing
        frames.append(Frame(kind: kind, missing: missing))
        return missing == 0 ? close() : nil
    }

    /// Ends the innermost value with members; nil for attributes, which describe the next value and are ignored.
    private mutating func close() -> RESPValue? {
        guard let frame = frames.popLast() else { return nil }
        return switch frame.kind {
        case .array: .array(frame.members)
        case .set: .set(frame.members)
        case .map: .map(frame.members)
        case .push: .push(frame.members)
        case .attribute: nil
        }
    }

    /// Adds a value to those around it; returns the reply that it completes.
    private mutating func deliver(_ value: RESPValue) throws(Failure) -> RESPValue? {
        var value = value
        while !frames.isEmpty {
            let last = frames.count - 1
            frames[last].members.append(value)
            frames[last].missing -= 1
            guard frames[last].missing == 0, let closed = close() else { return nil }
            value = closed
        }
        return value
    }

    /// Returns the string that is arriving, if all of it has arrived.
    private mutating func string(_ string: PendingString) throws(Failure) -> RESPValue? {
        guard bufferedByteCount >= string.byteCount + 2 else { return nil }
        let end = start + string.byteCount
        guard buffer[end] == Self.carriageReturn, buffer[end + 1] == Self.lineFeed else { throw .malformed }
        let bytes = buffer[start..<end]
        defer { pendingString = nil }
        try consume(string.byteCount + 2)
        switch string.type {
        case UInt8(ascii: "!"): return .error(String(decoding: bytes, as: UTF8.self))
        case UInt8(ascii: "="):
            guard bytes.count >= 4, bytes[bytes.startIndex + 3] == UInt8(ascii: ":") else { throw .malformed }
            return .bytes(Data(bytes))
        default: return .bytes(Data(bytes))
        }
    }

    // MARK: Lines

    private static let carriageReturn = UInt8(ascii: "\r")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let doubleCharacters = Set("0123456789+-.eEinfa".utf8)
    private static let bigNumberCharacters = Set("0123456789+-".utf8)

    private mutating func nextLine() throws(Failure) -> ArraySlice<UInt8>? {
        var index = start + scannedCount
        while index < buffer.count, buffer[index] != Self.lineFeed { index += 1 }
        guard index - start <= limits.lineByteCount else { throw .exceedsLimits }
        guard index < buffer.count else {
            scannedCount = index - start
            return nil
        }
        guard index > start, buffer[index - 1] == Self.carriageReturn else { throw .malformed }
        let line = buffer[start..<(index - 1)]
        guard !line.contains(Self.carriageReturn) else { throw .malformed }
        try consume(line.count + 2)
        return line
    }

    private mutating func consume(_ count: Int) throws(Failure) {
        guard count - 2 <= limits.byteCount - byteCount else { throw .exceedsLimits }
        byteCount += count
        start += count
        scannedCount = 0
    }

    private static func number(_ content: ArraySlice<UInt8>) throws(Failure) -> Int64 {
        guard let first = content.first else { throw .malformed }
        let isNegative = first == UInt8(ascii: "-")
        let digits = isNegative || first == UInt8(ascii: "+") ? content.dropFirst() : content
        guard !digits.isEmpty else { throw .malformed }
        var result: Int64 = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { throw .malformed }
            let step = Int64(digit - UInt8(ascii: "0"))
            // Negative numbers are summed up as such: the smallest has no positive counterpart.
            let (product, overflows) = result.multipliedReportingOverflow(by: 10)
            let (sum, exceeds) =
                isNegative ? product.subtractingReportingOverflow(step) : product.addingReportingOverflow(step)
            guard !overflows, !exceeds else { throw .malformed }
            result = sum
        }
        return result
    }

    /// Returns a length; nil for the -1 that means null in RESP2.
    private static func length(_ content: ArraySlice<UInt8>, mayBeNull: Bool) throws(Failure) -> Int? {
        let number = try number(content)
        if number == -1, mayBeNull { return nil }
        guard number >= 0 else { throw .malformed }
        return Int(clamping: number)
    }

    private static func boolean(_ content: ArraySlice<UInt8>) throws(Failure) -> Bool {
        guard content.count == 1, let letter = content.first else { throw .malformed }
        switch letter {
        case UInt8(ascii: "t"): return true
        case UInt8(ascii: "f"): return false
        default: throw .malformed
        }
    }

    private static func text(_ content: ArraySlice<UInt8>, among allowed: Set<UInt8>) throws(Failure) -> String {
        guard !content.isEmpty, content.allSatisfy(allowed.contains) else { throw .malformed }
        return String(decoding: content, as: UTF8.self)
    }
}
