/// A connection to a node: a socket, with TLS if the client uses it. Never blocks; used only on the thread of the client's loop.
final class RedisChannel {
    private static let chunkByteCount = 64 << 10

    let socket: RedisSocket
    private var tls: TLSSession?
    /// Encrypted bytes, of which the first `sentCount` were sent.
    private var encrypted: [UInt8] = []
    private var sentCount = 0
    /// The reason why TLS has ended the connection.
    private(set) var failure: TLSFailure?

    init(_ socket: RedisSocket) { self.socket = socket }

    var descriptor: Int32 { socket.descriptor }
    /// True if encrypted bytes wait for the socket.
    var hasOutput: Bool { sentCount < encrypted.count }

    func close() { socket.close() }

    /// Begins TLS; ``shakeHands(_:)`` must follow.
    func secure(_ tls: TLSSession) { self.tls = tls }

    /// Continues the handshake: `.done` at its end, at once without TLS.
    ///
    /// - Parameter buffer: memory for received bytes.
    func shakeHands(_ buffer: UnsafeMutableRawBufferPointer) -> RedisSocket.Progress {
        guard let tls else { return .done(0) }
        while true {
            let progress = tls.shakeHands()
            // In case of a failure, the reason for the server.
            let output = flush()
            switch progress {
            case .done: return output == .ended ? .ended : .done(0)
            case .ended, .failed: return fail(tls)
            case .blocked: break
            }
            switch socket.receive(into: buffer) {
            case .done(let count):
                guard tls.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return .ended }
            case .blocked: return .blocked
            case .ended: return .ended
            }
        }
    }

    /// Sends bytes. With TLS, they are taken if all bytes before them were sent.
    func send(_ bytes: UnsafeRawBufferPointer) -> RedisSocket.Progress {
        guard let tls else { return socket.send(bytes) }
        let before = flush()
        guard case .done = before else { return before }
        let chunk = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.chunkByteCount))
        guard tls.write(chunk) else { return fail(tls) }
        return flush() == .ended ? .ended : .done(chunk.count)
    }

    /// Sends encrypted bytes: `.done` if none are left.
    @discardableResult
    func flush() -> RedisSocket.Progress {
        guard let tls else { return .done(0) }
        while true {
            if sentCount == encrypted.count { refill(from: tls) }
            guard sentCount < encrypted.count else { return .done(0) }
            let progress = encrypted.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[sentCount...])) }
            guard case .done(let count) = progress else { return progress }
            sentCount += count
        }
    }

    private func refill(from tls: TLSSession) {
        encrypted = [UInt8](unsafeUninitializedCapacity: Self.chunkByteCount) { buffer, count in
            count = tls.take(into: UnsafeMutableRawBufferPointer(buffer))
        }
        sentCount = 0
    }

    /// Receives bytes. Returns fewer than fit into the buffer only if no more have arrived.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> RedisSocket.Progress {
        guard let tls else { return socket.receive(into: buffer) }
        while true {
            switch tls.read(into: buffer) {
            case .done(let count): return .done(count)
            case .ended: return .ended
            case .failed: return fail(tls)
            case .blocked: break
            }
            switch socket.receive(into: buffer) {
            case .done(let count):
                guard tls.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return .ended }
            case .blocked:
                flush()
                return .blocked
            case .ended: return .ended
            }
        }
    }

    private func fail(_ tls: TLSSession) -> RedisSocket.Progress {
        failure = tls.failure
        return .ended
    }
}
