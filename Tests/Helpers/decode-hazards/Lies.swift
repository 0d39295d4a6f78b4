import CIsolation
import Glibc
import WebImage

@testable import WebImageCache
@testable import WebImageIsolation

/// Answers that no honest worker gives. The loop itself sends what follows them.
enum Lies {
    private static let socket = Int32(webimage_worker_socket)
    /// The number of the request that is answered; a worker has one thread.
    nonisolated(unsafe) static var request: UInt64 = 1

    static func tell(_ name: String) {
        var picture = IsolatedImage(HazardCoder.picture(0))
        switch name {
        case "garbage": send((0..<100).map { UInt8($0) })
        case "empty": send([])
        case "long": send([UInt8](repeating: 7, count: 70 << 10))
        case "nothing": send(message(picture))
        case "changeable": send(message(picture), webimage_memory_create(4096))
        case "small":
            (picture.width, picture.height, picture.bytesPerRow) = (1000, 1000, 4000)
            send(message(picture), sealed(64))
        case "rows":
            picture.bytesPerRow = .max / 2
            send(message(picture), sealed(64))
        case "offset":
            picture.byteOffset = .max - 10
            send(message(picture), sealed(64))
        case "narrow":
            picture.bytesPerRow = 4
            send(message(picture), sealed(64))
        case "huge":
            (picture.width, picture.height, picture.bytesPerRow) = (1 << 24, 1 << 24, 4 << 24)
            send(message(picture), sealed(64))
        case "side":
            picture.width = 0
            send(message(picture), sealed(64))
        case "socket fd": send(message(picture), socket)
        case "other": send(IsolationReply(id: 99, answer: .image(picture)).message, sealed(64))
        case "twice": send(message(picture), sealed(64))
        case "kind":
            send(
                IsolationReply(id: 1, answer: .need(DecodeMemoryNeed(outputByteCount: 1, workingByteCount: 1))).message
            )
        case "elsewhere": send(MemoryMessage.answer(100 << 10).bytes, sealed(64))
        case "endless": send(MemoryMessage.answer(200 << 20).bytes, sealed(200 << 20))
        case "far":
            picture.byteOffset = 1 << 20
            send(message(picture), sealed(2 << 20))
        case "wide":
            (picture.width, picture.height, picture.bytesPerRow) = (70_000, 1, 280_000)
            send(message(picture), sealed(280_000))
        case "frames":
            picture.metadata.frameCount = 10_001
            send(message(picture), sealed(64))
        case "empty with memory": send([], sealed(64))
        case "heavy": send(message(picture), sealed(64 << 20))
        case "announced heavy": announce(sealed(64 << 20), 64 << 20, picture)
        case "announced alone": send(MemoryMessage.announcement(1 << 20).bytes, sealed(1 << 20))
        case "announced beyond":
            send(MemoryMessage.announcement(64 << 20).bytes, sealed(64 << 20))
            send(message(picture), sealed(64))
        case "announced nothing": send(MemoryMessage.announcement(1 << 20).bytes)
        case "announced changeable": announce(webimage_memory_create(1 << 20), 1 << 20, picture)
        case "announced huge": announce(sealed(64), .max, picture)
        case "announced small":
            (picture.width, picture.height, picture.bytesPerRow) = (1000, 1000, 4000)
            announce(sealed(64), 4 << 20, picture)
        case "announced socket": announce(socket, 1 << 20, picture)
        case "announced twice":
            send(MemoryMessage.announcement(1 << 20).bytes, sealed(1 << 20))
            announce(sealed(1 << 20), 1 << 20, picture)
        case "crash": tellOfCrash()
        case "deaf":
            close(socket)
            Hazards.run("sleep")
        default: return
        }
    }

    private static func announce(_ memory: Int32, _ byteCount: Int, _ picture: IsolatedImage) {
        send(MemoryMessage.announcement(byteCount).bytes, memory)
        send(message(picture))
    }

    private static func message(_ picture: IsolatedImage) -> [UInt8] {
        IsolationReply(id: request, answer: .image(picture)).message
    }

    private static func sealed(_ byteCount: Int) -> Int32 {
        let memory = webimage_memory_create(byteCount)
        _ = webimage_memory_seal(memory)
        return memory
    }

    private static func send(_ message: [UInt8], _ descriptor: Int32 = -1) {
        _ = message.withUnsafeBytes { webimage_message_send(socket, $0.baseAddress, $0.count, descriptor, true) }
    }

    private static func tellOfCrash() {
        var crash = webimage_crash()
        crash.magic = UInt32(webimage_crash_magic)
        (crash.signal, crash.call, crash.allowed) = (SIGSYS, .min, .max)
        _ = withUnsafeMutableBytes(of: &crash.name) { $0.initializeMemory(as: UInt8.self, repeating: 0x1B) }
        _ = withUnsafeMutableBytes(of: &crash.path) { $0.initializeMemory(as: UInt8.self, repeating: 0x0A) }
        withUnsafeBytes(of: crash) { send(Array($0)) }
    }
}
