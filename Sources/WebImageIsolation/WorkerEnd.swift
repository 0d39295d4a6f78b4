import CIsolation
import Glibc

/// The report of a crashing worker. It is untrusted and only used for messages.
struct WorkerCrash: Sendable, Equatable {
    var signal: Int
    /// The system call that the filter blocked.
    var call: String?
    var isOutOfMemory: Bool
    /// The number of bytes that it was allowed.
    var allowed: Int

    init(signal: Int, call: String? = nil, isOutOfMemory: Bool = false, allowed: Int = 0) {
        (self.signal, self.call, self.isOutOfMemory, self.allowed) = (signal, call, isOutOfMemory, allowed)
    }

    /// Returns nil for any other message.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == MemoryLayout<webimage_crash>.size else { return nil }
        var crash = bytes.withUnsafeBytes { $0.loadUnaligned(as: webimage_crash.self) }
        guard crash.magic == UInt32(webimage_crash_magic) else { return nil }
        (signal, isOutOfMemory) = (Int(crash.signal), crash.is_out_of_memory != 0)
        allowed = Int(clamping: crash.allowed)
        guard crash.signal == SIGSYS else { return }
        let name = withUnsafeBytes(of: &crash.name) { Self.text($0) }
        let path = withUnsafeBytes(of: &crash.path) { Self.text($0) }
        call = name.isEmpty ? "system call \(crash.call)" : path.isEmpty ? name : "\(name)(\"\(path)\")"
    }

    /// Returns the printable characters of a text that ends with 0.
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.prefix { $0 != 0 }.map { (32..<127).contains($0) ? $0 : 63 }, as: UTF8.self)
    }
}

/// The end of a worker.
struct WorkerEnd: Sendable, Equatable {
    /// The signal; 0 for none or if not known.
    var signal: Int32
    var code: Int32
    var crash: WorkerCrash?

    private static let names: [Int32: String] = [
        SIGSEGV: "SIGSEGV", SIGBUS: "SIGBUS", SIGILL: "SIGILL", SIGFPE: "SIGFPE", SIGABRT: "SIGABRT",
        SIGTRAP: "SIGTRAP",
        SIGKILL: "SIGKILL", SIGSYS: "SIGSYS", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGTERM: "SIGTERM",
    ]

    /// Returns the error for the image that was being decoded.
    func error(seconds: Double) -> WebImageError {
        if signal == SIGXCPU { return .decodeTimedOut(seconds) }
        if let crash, crash.isOutOfMemory {
            let allowed = crash.allowed >> 20
            return WebImageError(.outOfMemory, "the decoder used up the \(allowed) MiB allowed for the image")
        }
        if let call = crash?.call {
            return WebImageError(
                .decoderCrashed,
                "the decoder was stopped: it called \(call), which the sandbox does not allow"
            )
        }
        // A filter that kills a process gives it no chance to report the call.
        if signal == SIGSYS {
            return WebImageError(
                .decoderCrashed,
                "the decoder was stopped (SIGSYS): it made a system call that the sandbox does not allow"
            )
        }
        let number = signal == 0 ? Int32(clamping: crash?.signal ?? 0) : signal
        guard number != 0 else {
            return WebImageError(.decoderCrashed, "the decoder exited with status \(code) before it returned an image")
        }
        return WebImageError(.decoderCrashed, "the decoder crashed (\(Self.names[number] ?? "signal \(number)"))")
    }
}

extension WebImageError {
    static func decodeTimedOut(_ seconds: Double) -> WebImageError {
        WebImageError(.decodeTimedOut, "the image was not decoded within \(seconds) s")
    }
}

extension WorkerFailure {
    var isTimeout: Bool {
        switch self {
        case .timedOut: true
        case .ended(let end): end.signal == SIGXCPU
        case .lied, .unreachable: false
        }
    }

    /// Returns the error for the image that was being decoded.
    func error(seconds: Double) -> WebImageError {
        switch self {
        case .timedOut: .decodeTimedOut(seconds)
        case .ended(let end): end.error(seconds: seconds)
        case .lied(let problem): WebImageError(.decoderCrashed, "invalid reply from the decoder: \(problem)")
        case .unreachable(let problem): WebImageError(.decoderUnavailable, "the decoder cannot be reached: \(problem)")
        }
    }

    /// Returns the error if the failure happens before a worker is ready.
    func startError(_ program: WorkerProgram) -> WebImageError {
        let problem: String =
            switch self {
            case .timedOut: "it did not start in time"
            case .ended(let end): end.error(seconds: 0).message
            case .lied(let problem), .unreachable(let problem): problem
            }
        return WebImageError(.decoderUnavailable, "\(program.path) does not work as a decoder: \(problem)")
    }
}
