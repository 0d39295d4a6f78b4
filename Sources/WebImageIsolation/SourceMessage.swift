import CIsolation
import FoundationEssentials

/// The input of a task.
enum WorkerInput: Sendable {
    /// The encoded bytes, copied into memory that the worker shares.
    case data(Data)
    /// A file whose bytes the worker asks for in parts.
    case source(any ImageByteSource)
    /// The descriptor of a file that the worker reads itself.
    case file(Int32)
}

/// A message about a part of a file that a worker reads in parts. The bytes are in the memory for requests.
enum SourceMessage: Equatable {
    /// A worker asks for bytes.
    case read(offset: Int, count: Int)
    /// The parent has written that many bytes at the beginning of the memory; 0 at the end of the file.
    case bytes(Int)
    /// The parent cannot read them.
    case failed

    /// The size of a part in bytes, and of the memory.
    static let mostBytes = 256 << 10
    /// The number of parts that one task may ask for: a file of 4 GiB is far more than a still needs.
    static let mostReads = 16 << 10

    /// Numbers that no request uses.
    private static let marks: (read: UInt64, bytes: UInt64, failed: UInt64) = (.max - 2, .max - 3, .max - 4)

    var message: [UInt8] {
        var writer = WireWriter()
        switch self {
        case .read(let offset, let count):
            writer.write(Self.marks.read)
            writer.write(offset)
            writer.write(count)
        case .bytes(let count):
            writer.write(Self.marks.bytes)
            writer.write(count)
        case .failed: writer.write(Self.marks.failed)
        }
        return writer.bytes
    }

    /// Returns nil for any other message.
    init?(_ message: some Collection<UInt8>) {
        guard message.count <= 24, let result = Array(message).withUnsafeBytes({ Self.parse($0) }) else { return nil }
        self = result
    }

    private static func parse(_ bytes: UnsafeRawBufferPointer) -> SourceMessage? {
        var reader = WireReader(bytes)
        do throws(WireError) {
            let result: SourceMessage
            switch try reader.word() {
            case marks.read:
                result = .read(
                    offset: try reader.int(0...Int.max, "the offset"),
                    count: try reader.int(1...mostBytes, "the count")
                )
            case marks.bytes: result = .bytes(try reader.int(0...mostBytes, "the count"))
            case marks.failed: result = .failed
            default: return nil
            }
            try reader.end()
            return result
        } catch {
            return nil
        }
    }
}

/// A file of the parent, read by a worker: each part is a message to the parent, whose answer is in shared memory.
final class ParentByteSource: ImageByteSource, @unchecked Sendable {
    // Sendable because a worker decodes on one thread.

    let byteCount: Int
    private let memory: UnsafeRawBufferPointer
    /// The part that is in the memory.
    private var part = 0..<0

    init(byteCount: Int, memory: UnsafeRawBufferPointer) { (self.byteCount, self.memory) = (byteCount, memory) }

    var beginning: Data { Data() }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(WebImageError) -> Int {
        guard offset >= 0, offset < byteCount, !buffer.isEmpty else { return 0 }
        if !part.contains(offset) { try ask(offset) }
        guard part.contains(offset) else { return 0 }
        let count = min(part.upperBound - offset, buffer.count)
        let start = offset - part.lowerBound
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[start..<start + count]))
        return count
    }

    private func ask(_ offset: Int) throws(WebImageError) {
        part = 0..<0
        let count = min(byteCount - offset, memory.count, SourceMessage.mostBytes)
        let question = SourceMessage.read(offset: offset, count: count).message
        let sent = question.withUnsafeBytes {
            webimage_message_send(Int32(webimage_worker_socket), $0.baseAddress, $0.count, -1, true)
        }
        var descriptor: Int32 = -1
        var answer = [UInt8](repeating: 0, count: 64)
        let length = answer.withUnsafeMutableBytes {
            webimage_message_receive(Int32(webimage_worker_socket), $0.baseAddress, $0.count, -1, &descriptor)
        }
        guard sent == 0, length > 0, case .bytes(let read)? = SourceMessage(answer.prefix(length)), read <= count else {
            throw WebImageError(.badImageData, "the file cannot be read")
        }
        part = offset..<offset + read
    }
}
