import FoundationEssentials
import Glibc
import TestSupport
package import WebImageHTTP

extension HTTPHeaders {
    package init(pairs: [(String, String)]) {
        self.init()
        for (name, value) in pairs { add(name: name, value: value) }
    }
}

/// A gzip stream of zeros, written by hand as one deflate block with fixed codes: a zero byte, then runs of 258. A
/// stream that is read to its end needs a checksum.
package func gzipOfZeros(megabytes: Int, hasChecksum: Bool = false) -> [UInt8] {
    var bits = BitWriter()
    bits.write(1, count: 1)
    bits.write(1, count: 2)
    // The literal 0 has the code 00110000, most significant bit first.
    bits.writeReversed(0b0011_0000, count: 8)
    let runs = (megabytes << 20) / 258
    // Eight runs are 13 bytes, and the next eight the same.
    let repeated = max(runs / 8 - 2, 0)
    for _ in 0..<runs - 8 * repeated {
        // Length 258 is symbol 285 = 11000101; distance 1 is symbol 0 = 00000.
        bits.writeReversed(0b1100_0101, count: 8)
        bits.writeReversed(0, count: 5)
    }
    bits.repeatLast(13, count: repeated)
    bits.writeReversed(0, count: 7)
    let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
    let count = 1 + 258 * runs
    let checksum = hasChecksum ? CRC32.of(repeatElement(0, count: count)) : 0
    let trailer = [checksum, UInt32(count)].flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
    return header + bits.finish() + trailer
}

private struct BitWriter {
    private var bytes: [UInt8] = []
    private var current: UInt8 = 0
    private var used = 0

    mutating func write(_ value: Int, count: Int) {
        for bit in 0..<count { append(value >> bit & 1) }
    }

    mutating func writeReversed(_ value: Int, count: Int) {
        for bit in (0..<count).reversed() { append(value >> bit & 1) }
    }

    /// Repeats the last whole bytes, which the bits after them continue.
    mutating func repeatLast(_ byteCount: Int, count: Int) {
        let last = bytes.suffix(byteCount)
        for _ in 0..<count { bytes += last }
    }

    mutating func finish() -> [UInt8] { used > 0 ? bytes + [current] : bytes }

    private mutating func append(_ bit: Int) {
        current |= UInt8(bit) << UInt8(used)
        used += 1
        if used == 8 {
            bytes.append(current)
            current = 0
            used = 0
        }
    }
}

/// A port whose queue of connections is full, so that the system ignores further ones.
package final class FullBacklog {
    package struct Failure: Error {}

    package let port: Int
    private var sockets: [Int32] = []

    package init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 0) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard bound else { throw Failure() }
        port = Int(UInt16(bigEndian: address.sin_port))
        sockets = [listener]
        for _ in 0..<8 {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            _ = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(client, $0, length) }
            }
            sockets.append(client)
        }
    }

    deinit { for socket in sockets { close(socket) } }
}
