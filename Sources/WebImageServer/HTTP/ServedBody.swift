import FoundationEssentials
import WebImage

/// The body of an answer.
enum ServedBody: Sendable {
    case bytes(ServedBytes)
    /// The bytes of an entry on disk, which the kernel copies to the socket (`sendfile`).
    case file(OpenEntry)

    init(_ text: String) { self = .bytes(ServedBytes(Data(text.utf8))) }

    var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(let entry): entry.byteCount
        }
    }
}

/// The bytes of a body, at an address that does not change, so that sockets are written from it without a copy.
final class ServedBytes: @unchecked Sendable {
    // Sendable because the bytes are not changed after they were copied.

    private let bytes: UnsafeMutableRawPointer
    let count: Int

    /// Copies bytes.
    init(_ data: Data) {
        count = data.count
        bytes = .allocate(byteCount: max(data.count, 1), alignment: 16)
        data.withUnsafeBytes { if let base = $0.baseAddress { bytes.copyMemory(from: base, byteCount: $0.count) } }
    }

    deinit { bytes.deallocate() }

    /// The beginning. Valid as long as the object.
    var base: UnsafeRawPointer { UnsafeRawPointer(bytes) }
}
