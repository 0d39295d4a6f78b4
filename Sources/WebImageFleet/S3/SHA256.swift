import FoundationEssentials

/// SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), as signatures of requests need them. A pure value.
struct SHA256: Sendable {
    private static let blockByteCount = 64

    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    /// Bytes that do not fill a block yet.
    private var rest: [UInt8] = []
    private var byteCount: UInt64 = 0

    /// Returns the 32 bytes of a hash.
    static func hash(_ bytes: some ContiguousBytes) -> [UInt8] {
        var hash = SHA256()
        bytes.withUnsafeBytes { hash.update($0) }
        return hash.finish()
    }

    /// Returns the 32 bytes of a message's authentication code.
    static func code(of message: some ContiguousBytes, key: [UInt8]) -> [UInt8] {
        var block = key.count > blockByteCount ? hash(key) : key
        block += [UInt8](repeating: 0, count: blockByteCount - block.count)
        var inner = SHA256()
        block.map { $0 ^ 0x36 }.withUnsafeBytes { inner.update($0) }
        message.withUnsafeBytes { inner.update($0) }
        return hash(block.map { $0 ^ 0x5c } + inner.finish())
    }

    /// Returns lower-case hexadecimal digits.
    static func hexadecimal(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private mutating func update(_ bytes: UnsafeRawBufferPointer) {
        byteCount &+= UInt64(bytes.count)
        var bytes = bytes[...]
        if !rest.isEmpty {
            let part = bytes.prefix(Self.blockByteCount - rest.count)
            rest += part
            bytes = bytes.dropFirst(part.count)
            guard rest.count == Self.blockByteCount else { return }
            let block = rest
            rest = []
            block.withUnsafeBytes { Self.add($0, to: &state) }
        }
        let whole = bytes.prefix(bytes.count / Self.blockByteCount * Self.blockByteCount)
        Self.add(UnsafeRawBufferPointer(rebasing: whole), to: &state)
        rest += bytes.dropFirst(whole.count)
    }

    private mutating func finish() -> [UInt8] {
        let bitCount = byteCount &* 8
        var end: [UInt8] = [0x80]
        let used = (rest.count + 9) % Self.blockByteCount
        end += [UInt8](repeating: 0, count: used == 0 ? 0 : Self.blockByteCount - used)
        end += (0..<8).map { UInt8(truncatingIfNeeded: bitCount >> UInt64(56 - 8 * $0)) }
        end.withUnsafeBytes { update($0) }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
    }

    /// Adds whole blocks.
    private static func add(_ blocks: UnsafeRawBufferPointer, to state: inout [UInt32]) {
        guard !blocks.isEmpty else { return }
        state.withUnsafeMutableBufferPointer { state in
            constants.withUnsafeBufferPointer { constants in
                withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
                    for start in stride(from: 0, to: blocks.count, by: blockByteCount) {
                        expand(blocks, start, into: schedule)
                        mix(schedule, constants, into: state)
                    }
                }
            }
        }
    }

    private static func expand(
        _ blocks: UnsafeRawBufferPointer,
        _ start: Int,
        into schedule: UnsafeMutableBufferPointer<UInt32>
    ) {
        for index in 0..<16 {
            let word = blocks.loadUnaligned(fromByteOffset: start + 4 * index, as: UInt32.self)
            schedule[index] = UInt32(bigEndian: word)
        }
        for index in 16..<64 {
            let (early, late) = (schedule[index - 15], schedule[index - 2])
            let first = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
            let second = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
            schedule[index] = schedule[index - 16] &+ first &+ schedule[index - 7] &+ second
        }
    }

    private static func mix(
        _ schedule: UnsafeMutableBufferPointer<UInt32>,
        _ constants: UnsafeBufferPointer<UInt32>,
        into state: UnsafeMutableBufferPointer<UInt32>
    ) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let chosen = (e & f) ^ (~e & g)
            let turned = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
            let first = h &+ turned &+ chosen &+ constants[index] &+ schedule[index]
            let majority = (a & b) ^ (a & c) ^ (b & c)
            let second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ majority
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ second)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    @inline(__always)
    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
