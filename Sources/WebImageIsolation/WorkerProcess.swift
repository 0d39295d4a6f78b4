import CIsolation
import FoundationEssentials
import Glibc

/// The reason why a worker did not perform a task.
enum WorkerFailure: Error, Sendable {
    case timedOut
    /// It ended.
    case ended(WorkerEnd)
    /// It sent an invalid message.
    case lied(String)
    /// The parent could not communicate with it.
    case unreachable(String)
}

/// A worker process, seen from its parent. Used by one thread at a time: the one that its pool gave it to.
final class WorkerProcess: @unchecked Sendable {
    // Sendable because the pool hands it from one thread to the next under its lock.

    /// The sandbox report that it sent before it received a byte of an image.
    private(set) var walls = WorkerSandbox()
    private let process: Int32
    private let socket: Int32
    private let memory: Int32
    private var capacity = 0
    private var lastRequest: UInt64 = 0
    private var isOver = false

    /// The maximum number of bytes in the memory for requests that are kept after use.
    private static let mostKept = 16 << 20
    /// The maximum length of a message.
    static let mostBytes = 64 << 10
    /// A start takes some hundredths of a second, much more on a busy machine.
    private static let startMilliseconds: Int32 = 30_000

    /// Starts a worker, on a thread that lives as long as this process: a worker dies with the thread that started it.
    ///
    /// - Parameters:
    ///   - decodes: the number of decodes after which it is replaced.
    ///   - starter: the queue with that thread.
    ///   - patience: the time in seconds to wait for the thread.
    /// - Throws: ``WebImageError/Code/decoderUnavailable``.
    init(
        _ program: WorkerProgram,
        _ kind: WorkerKind,
        memory byteCount: Int,
        decodes: Int = DecodeIsolation().maximumDecodeCount,
        starter: WorkQueue = WorkerProcess.starter,
        patience: Double = 30
    ) throws(WebImageError) {
        var ends: [Int32] = [-1, -1]
        let shared = webimage_memory_create(0)
        guard shared >= 0, webimage_message_pair(&ends) == 0 else {
            if shared >= 0 { close(shared) }
            throw WebImageError(.decoderUnavailable, "a worker cannot be started: no file descriptors are left")
        }
        let theirs = ends[1]
        let started = Latch()
        let result = Lock<Int32>(-EAGAIN)
        let start = starter.submit(priority: .high) {
            let spawned = Self.spawn(program, [kind.rawValue, "\(byteCount)", "\(decodes)"], theirs, shared)
            result.withLock { $0 = spawned }
            started.open()
        }
        // Once the job has begun, it ends soon; a thread that cannot be created is not waited for.
        if !started.wait(seconds: patience), !start.takeOut() { started.wait() }
        close(theirs)
        (memory, socket, process) = (shared, ends[0], result.withLock { $0 })
        guard process >= 0 else {
            close(shared)
            close(socket)
            isOver = true
            throw WebImageError(.decoderUnavailable, "\(program.path) cannot be started: \(Self.text(-process))")
        }
        do throws(WorkerFailure) {
            try greet()
        } catch {
            stop()
            throw error.startError(program)
        }
    }

    deinit { stop() }

    static let starter = WorkQueue(name: "webimage-start", width: 1)

    private static func spawn(_ program: WorkerProgram, _ words: [String], _ socket: Int32, _ memory: Int32) -> Int32 {
        var arguments = ([program.path, WorkerProgram.argument] + words).map { strdup($0) } + [nil]
        var variables = WorkerProgram.environment.map { strdup($0) } + [nil]
        defer { for word in arguments + variables { free(word) } }
        // WEBIMAGE_DECODER_ERRORS=1 shows the output of a worker's libraries.
        return webimage_worker_spawn(
            program.path,
            &arguments,
            &variables,
            socket,
            memory,
            getenv("WEBIMAGE_DECODER_ERRORS") != nil
        )
    }

    private func greet() throws(WorkerFailure) {
        let (bytes, descriptor) = try receive(milliseconds: Self.startMilliseconds)
        if descriptor >= 0 { close(descriptor) }
        do throws(WireError) {
            walls = try bytes.read { (bytes) throws(WireError) in try WorkerSandbox(bytes) }
        } catch {
            throw .lied(error.problem)
        }
        if let problem = walls.problem { throw .lied(problem) }
    }

    /// Indicates whether it has not received an image yet.
    var isFresh: Bool { lastRequest == 0 }

    /// Indicates whether it is alive and waits for a request.
    var isReady: Bool {
        guard !isOver else { return false }
        do throws(WorkerFailure) {
            let (_, descriptor) = try receive(milliseconds: 0)
            if descriptor >= 0 { close(descriptor) }
            // A message that was not requested.
            return false
        } catch {
            if case .timedOut = error { return true }
            return false
        }
    }

    /// Sends a request and waits for the answer, at most that many seconds.
    ///
    /// - Parameter input: the encoded bytes; nil if the worker has them.
    /// - Returns: the answer, and the pixels if it is an image. After a failure the worker must not be used any more.
    func perform(
        _ task: IsolationTask,
        _ input: WorkerInput?,
        seconds: Double
    ) throws(WorkerFailure) -> (IsolationAnswer, PixelStorage?) {
        var data: Data?
        var source: (any ImageByteSource)?
        var descriptor: Int32 = -1
        switch input {
        case .data(let bytes)?:
            data = bytes
            try bytes.withBytes { (bytes) throws(WorkerFailure) in try put(bytes[...]) }
        case .source(let file)?:
            source = file
            try makeRoom(SourceMessage.mostBytes)
        case .file(let file)?: descriptor = file
        case nil: break
        }
        defer { if capacity > Self.mostKept { shrink() } }
        lastRequest += 1
        let request = IsolationRequest(
            id: lastRequest,
            task: task,
            byteCount: data?.count,
            sourceByteCount: source?.byteCount,
            capacity: capacity,
            seconds: seconds
        )
        let message = request.message
        let sent = message.withUnsafeBytes {
            webimage_message_send(socket, $0.baseAddress, $0.count, descriptor, false)
        }
        guard sent == 0 else { throw failure(sent) }
        return try receiveAnswer(to: request, source, milliseconds: Int32(min(seconds * 1000 + 1, 1e9)))
    }

    /// Waits for the answer, and maps the memory of an image that is announced meanwhile.
    private func receiveAnswer(
        to request: IsolationRequest,
        _ source: (any ImageByteSource)?,
        milliseconds: Int32
    ) throws(WorkerFailure) -> (IsolationAnswer, PixelStorage?) {
        var start = ClockSource.system.monotonicNanoseconds()
        guard let source else {
            return try receiveAnswer(
                to: request,
                try receive(milliseconds: milliseconds),
                start,
                milliseconds: milliseconds
            )
        }
        var refusal: WebImageError?
        let first = try receiveAfterReads(of: source, &refusal, &start, milliseconds: milliseconds)
        let answer = try receiveAnswer(to: request, first, start, milliseconds: milliseconds)
        guard let refusal else { return answer }
        // Only a limit leaves what was found before it: after another error, a second try may find more.
        if case .failure = answer.0 { return (.failure(refusal), nil) }
        return refusal.code == .limitExceeded ? answer : (.failure(refusal), nil)
    }

    /// - Parameter message: the first message.
    private func receiveAnswer(
        to request: IsolationRequest,
        _ message: (bytes: [UInt8], descriptor: Int32),
        _ start: UInt64,
        milliseconds: Int32
    ) throws(WorkerFailure) -> (IsolationAnswer, PixelStorage?) {
        let (first, itsDescriptor) = message
        guard case .announcement(let byteCount)? = MemoryMessage(first) else {
            return try answer(first, itsDescriptor, nil, to: request)
        }
        guard itsDescriptor >= 0 else { throw .lied("it announces no memory") }
        guard byteCount <= request.task.maximumImageByteCount ?? 0 else {
            close(itsDescriptor)
            throw .lied("it announces an image that is bigger than allowed")
        }
        let announced = AnnouncedMemory(itsDescriptor, byteCount: byteCount)
        let passed = (ClockSource.system.monotonicNanoseconds() - start) / 1_000_000
        let left = max(Int64(milliseconds) - Int64(clamping: passed), 0)
        let (bytes, descriptor) = try receive(milliseconds: Int32(left))
        return try answer(bytes, descriptor, announced, to: request)
    }

    /// Serves the parts of a file that the worker asks for, and returns the message after them.
    ///
    /// - Parameters:
    ///   - refusal: the error of a part that could not be read.
    ///   - start: the time from which the worker's time counts; moved by the time that reading takes, which is not the worker's.
    private func receiveAfterReads(
        of source: any ImageByteSource,
        _ refusal: inout WebImageError?,
        _ start: inout UInt64,
        milliseconds: Int32
    ) throws(WorkerFailure) -> (bytes: [UInt8], descriptor: Int32) {
        let clock = ClockSource.system
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: SourceMessage.mostBytes, alignment: 1)
        defer { buffer.deallocate() }
        for _ in 0...SourceMessage.mostReads {
            let passed = (clock.monotonicNanoseconds() - start) / 1_000_000
            let left = max(Int64(milliseconds) - Int64(clamping: passed), 0)
            let (bytes, descriptor) = try receive(milliseconds: Int32(left))
            guard case .read(let offset, let count)? = SourceMessage(bytes) else { return (bytes, descriptor) }
            if descriptor >= 0 { close(descriptor) }
            let asked = clock.monotonicNanoseconds()
            let read: Int
            do throws(WebImageError) {
                read = try source.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count)))
            } catch {
                // The worker can still answer with a frame that it has found before.
                refusal = error
                start += clock.monotonicNanoseconds() - asked
                try send(.failed)
                continue
            }
            try put(UnsafeRawBufferPointer(buffer).prefix(read))
            try send(.bytes(read))
            start += clock.monotonicNanoseconds() - asked
        }
        throw .lied("it reads without end")
    }

    private func send(_ message: SourceMessage) throws(WorkerFailure) {
        let bytes = message.message
        let sent = bytes.withUnsafeBytes { webimage_message_send(socket, $0.baseAddress, $0.count, -1, false) }
        guard sent == 0 else { throw failure(sent) }
    }

    private func answer(
        _ bytes: [UInt8],
        _ descriptor: Int32,
        _ announced: consuming AnnouncedMemory?,
        to request: IsolationRequest
    ) throws(WorkerFailure) -> (IsolationAnswer, PixelStorage?) {
        var descriptor = descriptor
        defer { if descriptor >= 0 { close(descriptor) } }
        do throws(WireError) {
            if case .answer(let byteCount)? = MemoryMessage(bytes) {
                guard byteCount <= request.task.mostAnswerBytes else { throw WireError("its answer is too long") }
                let taken = descriptor
                descriptor = -1
                let storage = try SealedPixels.map(taken, byteCount: byteCount)
                let reply = try storage.withUnsafeBytes { (bytes) throws(WireError) in try IsolationReply(bytes) }
                try reply.check(request)
                // Such an answer carries no pixels.
                guard case .image = reply.answer else { return (reply.answer, nil) }
                throw WireError("its image has no memory")
            }
            let reply = try bytes.read { (bytes) throws(WireError) in try IsolationReply(bytes) }
            try reply.check(request)
            guard case .image(let image) = reply.answer else { return (reply.answer, nil) }
            let byteCount = try image.neededByteCount
            guard byteCount <= request.task.maximumImageByteCount ?? 0 else {
                throw WireError("its image is bigger than allowed")
            }
            if descriptor < 0, let announced { return (reply.answer, try announced.pixels(byteCount: byteCount)) }
            let taken = descriptor
            descriptor = -1
            return (reply.answer, try SealedPixels.map(taken, byteCount: byteCount))
        } catch {
            throw .lied(error.problem)
        }
    }

    /// Enlarges the memory for requests.
    private func makeRoom(_ byteCount: Int) throws(WorkerFailure) {
        guard capacity < byteCount else { return }
        guard ftruncate(memory, byteCount) == 0 else {
            throw .unreachable("no memory for \(byteCount) bytes: \(Self.text(errno))")
        }
        capacity = byteCount
    }

    private func put(_ bytes: Slice<UnsafeRawBufferPointer>) throws(WorkerFailure) {
        let written = webimage_memory_write(memory, UnsafeRawBufferPointer(rebasing: bytes).baseAddress, bytes.count)
        guard written == 0 else { throw .unreachable("no memory for \(bytes.count) bytes: \(Self.text(-written))") }
        capacity = max(capacity, bytes.count)
    }

    /// Releases the bytes of a big image instead of keeping them for later requests. The worker reads no more than the announced
    /// length.
    private func shrink() {
        guard ftruncate(memory, 0) == 0 else { return }
        capacity = 0
    }

    private func receive(milliseconds: Int32) throws(WorkerFailure) -> (bytes: [UInt8], descriptor: Int32) {
        var descriptor: Int32 = -1
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.mostBytes) { buffer, filled in
            count = webimage_message_receive(socket, buffer.baseAddress, buffer.count, milliseconds, &descriptor)
            filled = max(count, 0)
        }
        guard count > 0 else { throw failure(Int32(clamping: count)) }
        if let crash = WorkerCrash(bytes) {
            if descriptor >= 0 { close(descriptor) }
            throw .ended(end(crash))
        }
        return (bytes, descriptor)
    }

    private func failure(_ number: Int32) -> WorkerFailure {
        switch number {
        case -ETIMEDOUT: .timedOut
        case 0, -EPIPE, -ECONNRESET: .ended(end(nil))
        case -EMSGSIZE: .lied("its message is too long")
        default: .unreachable(Self.text(-number))
        }
    }

    /// Returns how it ended; kills it if it does not end by itself.
    private func end(_ crash: WorkerCrash?) -> WorkerEnd {
        var end = webimage_process_end()
        var result = webimage_process_wait(process, 1000, &end)
        if result == 0 {
            webimage_process_kill(process)
            result = webimage_process_wait(process, 10_000, &end)
        }
        return WorkerEnd(signal: result == 1 ? end.signal : 0, code: result == 1 ? end.code : 0, crash: crash)
    }

    /// Kills the worker and waits for its end. Idempotent.
    func stop() {
        guard !isOver else { return }
        isOver = true
        webimage_process_kill(process)
        var end = webimage_process_end()
        _ = webimage_process_wait(process, 10_000, &end)
        for descriptor in [process, socket, memory] { close(descriptor) }
    }

    static func text(_ number: Int32) -> String { String(cString: strerror(number)) }
}
