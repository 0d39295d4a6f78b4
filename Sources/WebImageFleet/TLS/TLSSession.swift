import CTLSShims
import Glibc

/// The reason why a connection with TLS cannot be used.
struct TLSFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// True if the certificate of the server was refused: its authority is unknown, it has expired, or it is for another host.
    let isOfCertificate: Bool
    /// The reason in the words of OpenSSL.
    let reason: String

    /// - Parameter message: the reason, with a zero at its end.
    fileprivate init(isOfCertificate: Bool, _ message: [CChar]) {
        self.isOfCertificate = isOfCertificate
        reason = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var description: String { isOfCertificate ? "its certificate was refused: \(reason)" : "TLS failed: \(reason)" }
}

/// The certificates of the connections of a client.
final class TLSContext: @unchecked Sendable {
    // Sendable because OpenSSL counts its references atomically, and nothing changes it.
    fileprivate let pointer: OpaquePointer

    /// Reads the files of certificates. Blocks for some milliseconds.
    init(_ certificates: RemoteStoreCertificates) throws(TLSFailure) {
        var message = [CChar](repeating: 0, count: 256)
        let made = Self.withStrings(certificates) { authority, certificate, key in
            webimage_tls_context_make(authority, certificate, key, &message, message.count)
        }
        guard let made else { throw TLSFailure(isOfCertificate: false, message) }
        pointer = made
    }

    deinit { webimage_tls_context_free(pointer) }

    private static func withStrings<Value>(
        _ files: RemoteStoreCertificates,
        _ body: (UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Value
    ) -> Value {
        let copies = [files.authorityFile, files.certificateFile, files.keyFile].map { $0.flatMap { strdup($0) } }
        defer { for copy in copies { free(copy) } }
        return body(copies[0], copies[1], copies[2])
    }
}

/// The TLS of one connection, over bytes that the caller sends and receives. Used only on one thread.
final class TLSSession {
    private let pointer: OpaquePointer

    /// Creates the TLS of a connection to a host, for which the server must have a certificate. Nil without memory.
    init?(_ context: TLSContext, host: String) {
        guard let pointer = webimage_tls_make(context.pointer, host) else { return nil }
        self.pointer = pointer
    }

    deinit { webimage_tls_free(pointer) }

    /// The progress of an operation.
    enum Progress: Hashable {
        case done(Int)
        /// Nothing more is possible before bytes arrive.
        case blocked
        /// The server has ended the connection.
        case ended
        case failed
    }

    /// Takes bytes that have arrived.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.isEmpty || webimage_tls_receive(pointer, bytes.baseAddress, bytes.count)
    }

    /// Moves bytes that are to be sent into a buffer, and returns their number.
    func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        webimage_tls_take(pointer, buffer.baseAddress, buffer.count)
    }

    func shakeHands() -> Progress {
        switch webimage_tls_shake_hands(pointer) {
        case 1: .done(0)
        case 0: .blocked
        default: .failed
        }
    }

    /// Decrypts bytes until the buffer is full or more must arrive.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Progress {
        var count = 0
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let result = webimage_tls_read(pointer, rest.baseAddress, rest.count)
            guard result > 0 else {
                // An end or a failure after some bytes is found again by the next call.
                if count > 0 { return .done(count) }
                return result == 0 ? .blocked : result == -1 ? .ended : .failed
            }
            count += result
        }
        return .done(count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        webimage_tls_write(pointer, bytes.baseAddress, bytes.count)
    }

    /// The reason of the last failure.
    var failure: TLSFailure {
        var message = [CChar](repeating: 0, count: 256)
        let isOfCertificate = webimage_tls_failure(pointer, &message, message.count)
        return TLSFailure(isOfCertificate: isOfCertificate, message)
    }
}
