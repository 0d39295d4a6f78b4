import CTestSupport
public import FoundationEssentials
import Glibc

/// A server over TLS that accepts HTTP/2 only to send one kind of frame without end. `openssl s_server` does the TLS;
/// it ends with the object.
public final class FrameFlood: Sendable {
    /// The frames that are sent without end.
    public enum Kind: String, CaseIterable, Sendable {
        /// Before any head.
        case priority, ping, pingAnswers, settings, windowUpdates, unknownFrames, alternativeServices, interimHeads
        /// After the head of the response.
        case priorityAfterHead, emptyData, paddedData, singleBytes, emptyHeads, windowUpdatesAfterHead
        /// Within a head.
        case continuations
    }

    private static let path = "/picture.jpg"
    private let directory = TemporaryDirectory()
    private let port: ReservedPort
    private let process: pid_t
    private let sent = Monitor(0)

    /// Starts the server.
    public init(_ kind: Kind) async throws {
        signal(SIGPIPE, SIG_IGN)
        guard let openssl = NginxServer.program("openssl") else {
            throw NginxServer.StartFailure(description: "openssl is not installed")
        }
        port = try ReservedPort()
        try await NginxServer.makeCertificate(openssl, directory)
        let (input, output) = (try Self.pipeEnds(), try Self.pipeEnds())
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { for end in [input.reading, output.writing, nothing] { close(end) } }
        let arguments: [String] = [
            openssl, "s_server", "-quiet", "-alpn", "h2", "-accept", "127.0.0.1:\(port.port)",
            "-cert", directory.path("cert.pem"), "-key", directory.path("key.pem"),
        ]
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        process = ctest_spawn(openssl, &words, environ, directory.path, input.reading, output.writing, nothing)
        let sent = sent
        startThread {
            // The probe below is a connection too, and openssl would send it the data meant for the client.
            if Self.waitForBytes(output.reading) {
                startThread {
                    Self.flood(input.writing, kind, sent)
                    close(input.writing)
                }
                while Self.waitForBytes(output.reading) {}
            } else {
                close(input.writing)
            }
            close(output.reading)
        }
        guard process > 0 else { throw NginxServer.StartFailure(description: "openssl cannot be started") }
        guard await valueOnThread({ [port] in Self.waitsForConnections(on: port.port) }) else {
            throw NginxServer.StartFailure(description: "openssl does not listen")
        }
    }

    deinit {
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    /// The requested URL.
    public var url: URL {
        guard let url = URL(string: "https://127.0.0.1:\(port.port)\(Self.path)") else {
            preconditionFailure("the URL is well-formed")
        }
        return url
    }

    /// The file of the certificate, which is its own authority.
    public var certificate: String { directory.path("cert.pem") }

    /// Wakes the waiters of ``hasSent(_:orEndOf:)`` to check again.
    public func notify() { sent.withLock { _ in } }

    /// Suspends until this many bytes were sent; false when `isOver` returns true before, which is called when more was
    /// sent and after ``notify()``.
    public func hasSent(_ byteCount: Int, orEndOf isOver: @escaping @Sendable () -> Bool) async -> Bool {
        await sent.value(seconds: 20) { count -> Bool? in
            count >= byteCount ? true : isOver() ? false : nil
        } ?? false
    }

    /// Returns whether it accepts connections, tried until it does: there is no notification.
    private static func waitsForConnections(on port: Int) -> Bool {
        for _ in 0..<2000 {
            if let probe = LoopbackSocket.connect(port: port) {
                close(probe)
                return true
            }
            poll(nil, 0, 5)
        }
        return false
    }

    private static func pipeEnds() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard ctest_pipe(&ends) == 0 else { throw NginxServer.StartFailure(description: "there is no pipe") }
        return (ends[0], ends[1])
    }

    /// Reads the available bytes, waiting for them; false at the end.
    private static func waitForBytes(_ input: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            return count > 0
        }
    }

    // MARK: Frames

    private static func flood(_ output: Int32, _ kind: Kind, _ sent: Monitor<Int>) {
        guard write(output, frame(4, 0, 0) + frame(4, 1, 0) + beginning(of: kind)) else { return }
        let one = repeated(kind)
        let block = Array(repeating: one, count: (64 << 10) / one.count + 1).flatMap { $0 }
        while write(output, block) { sent.withLock { $0 += block.count } }
    }

    private static func write(_ output: Int32, _ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// ":status: 200" of HPACK's static table.
    private static let okay: [UInt8] = [0x88]

    private static func beginning(of kind: Kind) -> [UInt8] {
        switch kind {
        case .priorityAfterHead, .emptyData, .paddedData, .singleBytes, .emptyHeads, .windowUpdatesAfterHead:
            frame(1, 4, 1, okay)
        case .continuations: frame(1, 0, 1, okay)
        default: []
        }
    }

    private static func repeated(_ kind: Kind) -> [UInt8] {
        switch kind {
        case .priority, .priorityAfterHead: frame(2, 0, 1, [0, 0, 0, 0, 1])
        case .ping: frame(6, 0, 0, [UInt8](repeating: 1, count: 8))
        case .pingAnswers: frame(6, 1, 0, [UInt8](repeating: 1, count: 8))
        case .settings: frame(4, 0, 0)
        case .windowUpdates, .windowUpdatesAfterHead: frame(8, 0, kind == .windowUpdates ? 0 : 1, [0, 0, 0, 1])
        case .unknownFrames: frame(0xEE, 0, 0, [1, 2, 3])
        case .alternativeServices: frame(10, 0, 1, [0, 0])
        case .interimHeads: frame(1, 4, 1, [0x08, 3] + Array("100".utf8))
        case .emptyData: frame(0, 0, 1)
        case .paddedData: frame(0, 8, 1, [200] + [UInt8](repeating: 0, count: 200))
        case .singleBytes: frame(0, 0, 1, [65])
        case .emptyHeads: frame(1, 4, 1)
        case .continuations: frame(9, 0, 1)
        }
    }

    private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
        [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), type, flags, 0, 0, 0, stream] + payload
    }
}
