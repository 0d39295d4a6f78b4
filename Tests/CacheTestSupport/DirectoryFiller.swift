import Glibc
import WebImageCache

/// Fills a directory with files that look like entries, faster than a cache does.
package enum DirectoryFiller {
    package static func name(_ number: Int) -> String {
        let digits = String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 16)
        return String(repeating: "0", count: 32 - digits.utf8.count) + digits
    }

    /// Makes files of one block each, a second apart, the last `newest`; returns the size of a block.
    package static func fill(_ path: String, count: Int, newest: Double) -> Int {
        for number in 0..<count {
            let file = open(path + "/" + name(number), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            _ = withUnsafeBytes(of: number) { write(file, $0.baseAddress, $0.count) }
            let time = timespec(seconds: newest - Double(count - 1 - number))
            futimens(file, [time, time])
            close(file)
        }
        return count == 0 ? 0 : fileStatus(path + "/" + name(0)).allocatedSize
    }
}
