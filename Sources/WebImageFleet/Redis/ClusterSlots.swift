/// The nodes of a cluster, by hash slot. A pure value.
struct ClusterSlots: Sendable, Equatable {
    static let count = 16384
    static let range = 0..<count

    /// The masters that have slots.
    private(set) var masters: [RedisEndpoint] = []
    /// The index of each slot's master, plus 1; 0 for a slot without one.
    private var owners = [UInt16](repeating: 0, count: count)

    /// Returns the master of a slot; nil if none is known.
    func master(of slot: Int) -> RedisEndpoint? {
        guard Self.range.contains(slot), owners[slot] > 0 else { return nil }
        return masters[Int(owners[slot]) - 1]
    }

    /// Notes that a slot has moved. Ignored if there are more masters than any cluster has.
    mutating func move(_ slot: Int, to master: RedisEndpoint) {
        guard Self.range.contains(slot), let owner = owner(master) else { return }
        owners[slot] = owner
    }

    private mutating func owner(_ master: RedisEndpoint) -> UInt16? {
        if let index = masters.firstIndex(of: master) { return UInt16(index + 1) }
        guard masters.count < 1000 else { return nil }
        masters.append(master)
        return UInt16(masters.count)
    }

    /// Creates a table without nodes.
    init() {}

    /// Parses the reply to `CLUSTER SLOTS`; nil if it is something else.
    ///
    /// - Parameter replier: the node that replied: it leaves out its own host if it does not know it.
    init?(_ reply: RESPValue, from replier: RedisEndpoint) {
        guard case .array(let ranges) = reply else { return nil }
        for range in ranges {
            guard case .array(let parts) = range, parts.count >= 3,
                case .number(let first) = parts[0], case .number(let last) = parts[1],
                let slots = Self.slots(first, last),
                case .array(let node) = parts[2], node.count >= 2, case .number(let port) = node[1],
                let port = UInt16(exactly: port), port > 0
            else { return nil }
            let host = node[0].text ?? ""
            let master = RedisEndpoint(host: host.isEmpty || host == "?" ? replier.host : host, port: port)
            guard let owner = owner(master) else { return nil }
            for slot in slots { owners[slot] = owner }
        }
    }

    private static func slots(_ first: Int64, _ last: Int64) -> ClosedRange<Int>? {
        guard first >= 0, first <= last, last < Int64(count) else { return nil }
        return Int(first)...Int(last)
    }

    // MARK: Slots of keys

    /// Returns the slot of a key: CRC-16 of the key, or of its hash tag, which is the first non-empty text in braces.
    static func slot(of key: some Collection<UInt8>) -> Int {
        if let open = key.firstIndex(of: UInt8(ascii: "{")) {
            let rest = key[key.index(after: open)...]
            if let close = rest.firstIndex(of: UInt8(ascii: "}")), close != rest.startIndex {
                return Int(crc16(rest[..<close])) % count
            }
        }
        return Int(crc16(key)) % count
    }

    /// CRC-16 with the polynomial 0x1021, the initial value 0 and no reflection (XMODEM).
    static func crc16(_ bytes: some Sequence<UInt8>) -> UInt16 {
        var crc: UInt16 = 0
        for byte in bytes {
            crc ^= UInt16(byte) << 8
            for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
        }
        return crc
    }
}
