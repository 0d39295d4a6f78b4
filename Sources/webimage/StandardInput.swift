import FoundationEssentials
import Glibc
import WebImage

/// The image piped into the program: the source `-`. Read once, however often it is named.
actor StandardInput {
    static let scheme = "standard-input"
    private static let shared = StandardInput()

    /// The loader of standard input.
    static var loader: ClosureImageLoader {
        ClosureImageLoader(scheme: scheme) { _ in try await shared.data() }
    }

    private var reading: Task<Data, any Error>?

    private func data() async throws -> Data {
        let task = reading ?? Task { try await blocking { try Self.read() } }
        reading = task
        return try await task.value
    }

    /// - Throws: ``WebImageError/Code/limitExceeded`` if it exceeds the maximum size of an image file.
    private static func read() throws -> Data {
        let limit = ImageLimits().maximumEncodedByteCount
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw WebImageError(.fileAccessFailed, "standard input: \(String(cString: strerror(errno)))")
            }
            guard count > 0 else { return data }
            data += buffer[..<count]
            guard data.count <= limit else {
                throw WebImageError.limitExceeded("maximumEncodedByteCount", allowed: limit, required: data.count)
            }
        }
    }
}
