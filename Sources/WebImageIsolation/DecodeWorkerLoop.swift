import CIsolation
import FoundationEssentials
import Glibc

/// The main loop of a worker: it enters the sandbox, then serves one request after the other.
struct DecodeWorkerLoop {
    let coder: any ImageCoder
    private let kind: WorkerKind
    private let memory: Int
    /// The number of requests after which the worker is replaced.
    private let decodes: Int
    /// Indicates whether the permanent limits are set, which nothing that it decodes can lift.
    private var isBound = false
    private let buffers = SharedBuffers { descriptor, byteCount in
        DecodeWorkerLoop.sendShort(MemoryMessage.announcement(byteCount).bytes, descriptor)
    }
    /// The encoded bytes, written by the parent.
    private var bytes: UnsafeRawBufferPointer?
    /// The animation whose frames are being requested.
    private var animation: (id: UInt64, provider: any AnimatedImageProvider, data: Data)?
    /// The image whose regions are being requested.
    var regions: (any RegionServer)?
    /// The descriptor that came with a request.
    private var file: Int32 = -1

    /// The bytes that a decode may take beyond its estimate: thread stacks, tables, blocks that are kept.
    private static let slack = 128 << 20
    /// The maximum number of bytes by which a memory block may exceed its image.
    private static let mostRounding = 1 << 20
    /// A generous number of files that are open at a time while text is drawn.
    private static let fontFiles = 16

    init(_ coder: any ImageCoder, _ kind: WorkerKind, memory: Int, decodes: Int) {
        (self.coder, self.kind, self.memory, self.decodes) = (coder, kind, memory, decodes)
    }

    func run() -> Never {
        var worker = self
        worker.setUp()
        while let request = worker.nextRequest() { worker.serve(request) }
        _exit(0)
    }

    private func setUp() {
        webimage_sandbox_die_with_parent()
        webimage_sandbox_tame_heap()
        webimage_sandbox_report_crashes()
        // The sandbox allows no more threads. A pool has a worker for each processor.
        CodingQueue.shared.width = 1
        SharedBuffers.inUse = buffers
        PixelStorage.source = { [buffers] in buffers.storage(byteCount: $0) }
        for sample in DecodeSamples.samples(for: kind) { _ = try? coder.decode(sample.data, options: sample.options) }
        let paths = kind.readable.map { strdup($0) }
        var pointers = paths.map { UnsafePointer($0) } + [nil]
        let standing = pointers.withUnsafeMutableBufferPointer { pointers in
            var sandbox = webimage_sandbox()
            if kind.readsFiles, let base = pointers.baseAddress { sandbox.readable = UnsafePointer(base) }
            sandbox.memory = memory
            sandbox.descriptors = UInt32(SharedBuffers.mostPieces + 3 + (kind.readsFiles ? Self.fontFiles : 0))
            return webimage_sandbox_enter(&sandbox)
        }
        for path in paths { free(path) }
        var walls = WorkerSandbox()
        (walls.hasSeccomp, walls.landlock) = (standing.seccomp, Int(standing.landlock))
        (walls.readsFonts, walls.threads) = (standing.reads_files, Int(standing.threads))
        walls.isBounded = standing.bounded
        send(walls.message)
    }

    /// Returns the next request; nil if the parent is gone. An invalid request cannot be from the parent, so it is treated the
    /// same.
    private mutating func nextRequest() -> IsolationRequest? {
        var descriptor: Int32 = -1
        var message = [UInt8](repeating: 0, count: 16 << 10)
        let count = message.withUnsafeMutableBytes {
            webimage_message_receive(Int32(webimage_worker_socket), $0.baseAddress, $0.count, -1, &descriptor)
        }
        if file >= 0 { close(file) }
        file = descriptor
        guard count > 0 else { return nil }
        return message.prefix(count).withUnsafeBytes { try? IsolationRequest($0) }
    }

    private mutating func serve(_ request: IsolationRequest) {
        if let open = animation, open.id != request.task.animation { animation = nil }
        bind(request)
        webimage_sandbox_allow(headerMemory(request.byteCount ?? 0), seconds(request))
        map(request.capacity)
        buffers.await(byteCount: nil)
        let answer: IsolationAnswer
        var image: Image?
        do throws(WebImageError) {
            if let byteCount = request.sourceByteCount {
                (answer, image) = try perform(request, readingSourceOf: byteCount)
            } else {
                (answer, image) = try perform(request, request.byteCount.flatMap { encoded($0) })
            }
        } catch {
            answer = .failure(error)
        }
        let message = IsolationReply(id: request.id, answer: answer).message
        let needed = image.flatMap { try? IsolatedImage($0).neededByteCount } ?? 0
        guard var storage = image?.bitmap.storage else { return send(message) }
        image = nil
        let byteCount = storage.byteCount
        // Memory that is still in use, such as a canvas, stays here, and a copy is sent.
        let isFree = isKnownUniquelyReferenced(&storage)
        guard
            let (descriptor, isAnnounced) = isFree
                ? buffers.seal(storage, byteCount: needed)
                : buffers.copy(storage, byteCount: needed).map({ ($0, false) })
        else { return send(IsolationReply(id: request.id, answer: .failure(Self.noMemory)).message) }
        send(message, isAnnounced ? -1 : descriptor)
        close(descriptor)
        buffers.prepare(byteCount: byteCount)
    }

    private mutating func perform(
        _ request: IsolationRequest,
        _ data: Data?
    ) throws(WebImageError) -> (IsolationAnswer, Image?) {
        switch request.task {
        case .properties(let limits):
            return (.properties(try coder.properties(of: try Self.some(data), limits: limits)), nil)
        case .need(let options):
            return (.need(try coder.memoryNeed(of: try Self.some(data), options: options)), nil)
        case .decode(let options):
            let data = try Self.some(data)
            allow(data, options, request)
            return Self.answer(try coder.decode(data, options: options))
        case .animation(let id, let options):
            let provider = try open(id, try Self.some(data), options, request)
            let durations = (0..<provider.frameCount).map { provider.duration(at: $0) }
            return (
                .animation(frameCount: provider.frameCount, loopCount: provider.loopCount, durations: durations), nil
            )
        case .frame(let id, let index, let options):
            if let open = animation, open.id == id {
                allow(open.data, options, request)
                return Self.answer(try open.provider.frame(at: index))
            }
            return Self.answer(try open(id, try Self.some(data), options, request).frame(at: index))
        case .regions(let task, let options):
            // The estimates of decoders are for whole images.
            allow(nil, 0, options, request)
            return try perform(task)
        }
    }

    /// Returns ownership of the descriptor that came with the request; -1 if none did.
    mutating func takeFile() -> Int32 {
        defer { file = -1 }
        return file
    }

    /// Performs a task on a file that is read in parts.
    private func perform(
        _ request: IsolationRequest,
        readingSourceOf byteCount: Int
    ) throws(WebImageError) -> (IsolationAnswer, Image?) {
        guard let coder = coder as? any ByteSourceCoder, let bytes else {
            throw WebImageError(.unsupportedFormat, "the coder does not read files in parts")
        }
        let source = ParentByteSource(byteCount: byteCount, memory: bytes)
        switch request.task {
        case .properties(let limits): return (.properties(try coder.properties(of: source, limits: limits)), nil)
        case .need(let options): return (.need(try coder.memoryNeed(of: source, options: options)), nil)
        case .decode(let options):
            allow(try? coder.memoryNeed(of: source, options: options), SourceMessage.mostBytes, options, request)
            return Self.answer(try coder.decode(source, options: options))
        case .animation, .frame: throw WebImageError(.unsupportedFormat, "the coder decodes no animations")
        case .regions: throw WebImageError(.unsupportedFormat, "regions are not read from files in parts")
        }
    }

    private mutating func open(
        _ id: UInt64,
        _ shared: Data,
        _ options: ImageDecodeOptions,
        _ request: IsolationRequest
    ) throws(WebImageError) -> any AnimatedImageProvider {
        guard let coder = coder as? any AnimatedImageCoder else {
            throw WebImageError(.unsupportedFormat, "the coder decodes only the first frame of animations")
        }
        // The next request overwrites these bytes.
        let data = shared.withUnsafeBytes { Data($0) }
        allow(data, options, request)
        let provider = try coder.animation(of: data, options: options)
        animation = (id, provider, data)
        return provider
    }

    static func answer(_ image: Image) -> (IsolationAnswer, Image?) { (.image(IsolatedImage(image)), image) }

    private static func some(_ data: Data?) throws(WebImageError) -> Data {
        guard let data else { throw WebImageError(.badImageData, "the decoder received no bytes") }
        return data
    }

    private static let noMemory = WebImageError(.outOfMemory, "the decoder has no memory for the pixels")

    // MARK: Bounds

    /// Sets permanent limits with the first request, before its bytes are read. A later request that needs more than remains fails,
    /// and its parent retries it in a new worker.
    private mutating func bind(_ request: IsolationRequest) {
        guard !isBound else { return }
        isBound = true
        let limits = request.task.limits
        let piece = max(limits.mostPixelBytes + Self.mostRounding, request.task.mostAnswerBytes)
        let decodes = UInt64(min(decodes, 1_000_000))
        webimage_sandbox_bind(min(piece, memory), (UInt64(seconds(request)) + 1) * decodes)
    }

    /// Allows twice the estimate from the header: blocks are rounded, and heaps are fragmented.
    private func allow(_ data: Data, _ options: ImageDecodeOptions, _ request: IsolationRequest) {
        let told = try? coder.memoryNeed(of: data, options: options)
        if case .decode = request.task { buffers.await(byteCount: told?.outputByteCount) }
        allow(told, data.count, options, request)
    }

    private func allow(
        _ told: DecodeMemoryNeed?,
        _ byteCount: Int,
        _ options: ImageDecodeOptions,
        _ request: IsolationRequest
    ) {
        let most = max(options.limits.maximumDecodedByteCount, 0)
        // A coder without an estimate gets the maximum for decoded bytes.
        let need = told?.totalByteCount ?? most
        let (twice, overflow) = need.multipliedReportingOverflow(by: 2)
        let (sum, overflows) = headerMemory(byteCount).addingReportingOverflow(overflow ? memory : twice)
        webimage_sandbox_allow(overflows ? memory : min(sum, memory), seconds(request))
    }

    private func headerMemory(_ byteCount: Int) -> Int { Self.slack + min(byteCount, memory) * kind.headerFactor }

    private func seconds(_ request: IsolationRequest) -> UInt32 { UInt32(min(max(request.seconds, 0), 1e6)) + 1 }

    private mutating func map(_ capacity: Int) {
        guard capacity != bytes?.count ?? 0 else { return }
        if let bytes { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
        bytes = nil
        guard capacity > 0, let base = webimage_memory_map_readonly(Int32(webimage_worker_bytes), capacity) else {
            return
        }
        bytes = UnsafeRawBufferPointer(start: base, count: capacity)
    }

    /// Returns the encoded bytes in the memory that the parent writes to.
    private func encoded(_ count: Int) -> Data? {
        guard let bytes, count <= bytes.count, let base = bytes.baseAddress else { return nil }
        return Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: count, deallocator: .none)
    }

    // MARK: Messages

    private func send(_ message: [UInt8], _ descriptor: Int32 = -1) {
        guard message.count > WorkerProcess.mostBytes else { return Self.sendShort(message, descriptor) }
        let memory = message.withUnsafeBytes { buffers.seal($0) }
        // A parent that receives no answer kills this process.
        guard let memory else { _exit(1) }
        Self.sendShort(MemoryMessage.answer(message.count).bytes, memory)
        close(memory)
    }

    private static func sendShort(_ message: [UInt8], _ descriptor: Int32) {
        let result = message.withUnsafeBytes {
            webimage_message_send(Int32(webimage_worker_socket), $0.baseAddress, $0.count, descriptor, true)
        }
        if result != 0 { _exit(1) }
    }
}
