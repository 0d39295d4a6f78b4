import FoundationEssentials

/// A video on a server, of which parts are requested as its decoder reads them.
///
/// Each part is a download like any other: policies, credentials, hooks, retries and limits apply to it. All parts must belong to one version of the
/// file. Blocks the reading thread, which must not be the downloader's: until the part is there, nobody wants it any more, or the time for all parts
/// is used up. In the latter cases its transfer is cancelled.
final class HTTPByteSource: ImageByteSource {
    /// The number of bytes of the first part.
    static let firstByteCount = 64 << 10
    /// The maximum number of bytes of a part.
    private static let mostByteCount = 1 << 20
    /// The maximum number of parts, and so of requests: twice as many as small ones fit into the default limit.
    private static let mostParts = 512
    /// The seconds between two looks whether a part is still wanted.
    private static let pause = 0.02

    private struct State {
        /// The parts that were received, in no order; together not longer than the limit.
        var parts: [(range: Range<Int>, data: Data)] = []
        var received = 0
        /// The end and the length of the last part: a reader that goes on there gets longer parts.
        var last = 0..<0
        /// The nanoseconds that parts may still take; nil for any number.
        var left: UInt64?
        /// True while a thread requests a part. Others wait for it, so that two which need the same part request it once.
        var isRequesting = false
    }

    private enum Step {
        case copied(Int)
        case request(Range<Int>, nanoseconds: UInt64?)
        case failed(WebImageError)
    }

    let byteCount: Int
    let beginning: Data
    let heldByteCount: Int
    private let request: ImageLoadRequest
    private let core: DownloaderCore
    private let limit: Int
    private let validator: PartialValidator?
    private let head: HTTPHeaders
    /// True if the server sends only the whole file, of which this is the beginning.
    private let isCut: Bool
    private let state: ConditionLock<State>

    /// Creates the source of a video whose first part was received.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of bytes of all parts.
    ///   - seconds: the time that all parts may take together, the first one included; 0 for any. Time between parts does not count, in which the video
    ///     waits for a decoder or is decoded.
    /// - Throws: ``WebImageError/Code/invalidDownloadResponse``.
    init(
        _ first: LoadedImageData,
        of request: ImageLoadRequest,
        from core: DownloaderCore,
        limit: Int,
        seconds: Double
    ) throws(WebImageError) {
        guard let response = first.response else { throw Self.problem("the first part has no response") }
        (self.request, self.core, self.limit) = (request, core, limit)
        (head, validator) = (response.headers, PartialValidator(response.headers, now: core.clock.wallTime()))
        isCut = response.statusCode != 206
        if isCut {
            byteCount = max(Int(clamping: response.expectedByteCount ?? 0), first.data.count)
        } else {
            byteCount = try Self.total(response, 0..<min(Self.firstByteCount, limit), first.data)
        }
        beginning = first.data.prefix(4 << 10)
        heldByteCount = first.data.count
        let range = 0..<first.data.count
        let spent = TransferTimer.nanoseconds((first.metrics?.total ?? 0) + (first.metrics?.waitedForRetry ?? 0))
        let whole = TransferTimer.nanoseconds(seconds)
        let left = seconds > 0 ? whole - min(spent, whole) : nil
        state = ConditionLock(State(parts: [(range, first.data)], received: first.data.count, last: range, left: left))
    }

    var isVideo: Bool { ImageFormat(detecting: beginning).isVideo }

    /// Returns the result of the load, with the response that the whole file would have had.
    func loaded(_ first: LoadedImageData) -> LoadedImageData {
        var whole = first.response
        whole?.statusCode = 200
        whole?.headers["Content-Range"] = nil
        whole?.headers["Content-Length"] = "\(byteCount)"
        var result = LoadedImageData(byteSource: self, response: whole)
        result.metrics = first.metrics
        return result
    }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(WebImageError) -> Int {
        try read(at: offset, into: buffer, while: { true })
    }

    func read(
        at offset: Int,
        into buffer: UnsafeMutableRawBufferPointer,
        while isWanted: () -> Bool
    ) throws(WebImageError) -> Int {
        guard offset >= 0, offset < byteCount, !buffer.isEmpty else { return 0 }
        while isWanted() {
            switch state.wait(seconds: Self.pause, until: { nextStep(offset, buffer, &$0) }) {
            case nil: continue
            case .copied(let count)?: return count
            case .request(let part, let nanoseconds)?: try request(part, within: nanoseconds, while: isWanted)
            case .failed(let error)?: throw error
            }
        }
        throw .cancelled()
    }

    /// Returns nil while another thread requests a part.
    private func nextStep(_ offset: Int, _ buffer: UnsafeMutableRawBufferPointer, _ state: inout State) -> Step? {
        if let count = Self.copy(from: state, offset, to: buffer) { return .copied(count) }
        guard !state.isRequesting else { return nil }
        do throws(WebImageError) {
            let part = try nextPart(offset, state)
            state.isRequesting = true
            return .request(part, nanoseconds: state.left)
        } catch {
            return .failed(error)
        }
    }

    private func request(_ part: Range<Int>, within nanoseconds: UInt64?, while isWanted: () -> Bool)
        throws(WebImageError)
    {
        let start = core.clock.monotonicNanoseconds()
        let result = Result { () throws(WebImageError) in
            try receive(part, until: nanoseconds.map { start.adding(clamped: $0) }, while: isWanted)
        }
        let spent = core.clock.monotonicNanoseconds() - start
        state.withLock { state in
            state.isRequesting = false
            state.left = state.left.map { $0 - min(spent, $0) }
            guard case .success(let data) = result else { return }
            state.parts.append((part, data))
            state.received += data.count
            state.last = part
        }
        state.broadcast()
        _ = try result.get()
    }

    private static func copy(from state: State, _ offset: Int, to buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard let part = state.parts.last(where: { $0.range.contains(offset) }) else { return nil }
        let bytes = part.data.dropFirst(offset - part.range.lowerBound).prefix(buffer.count)
        buffer.copyBytes(from: bytes)
        return bytes.count
    }

    /// Decides which bytes to request: more each time while a reader goes on, up to bytes that are there.
    private func nextPart(_ offset: Int, _ state: State) throws(WebImageError) -> Range<Int> {
        guard !isCut else {
            throw .limitExceeded("maximumVideoByteCount", allowed: limit, required: byteCount)
        }
        if state.left == 0 { throw Self.timedOut }
        let isNext = offset == state.last.upperBound
        let wanted =
            isNext ? min(2 * max(state.last.count, Self.firstByteCount), Self.mostByteCount) : Self.firstByteCount
        let known = state.parts.map(\.range.lowerBound).filter { $0 > offset }.min() ?? byteCount
        let part = offset..<min(offset + wanted, known)
        let left = limit - state.received
        guard left > 0, state.parts.count < Self.mostParts else {
            throw .limitExceeded("maximumVideoByteCount", allowed: limit, required: state.received + part.count)
        }
        return part.clamped(to: offset..<offset + left)
    }

    private func receive(_ range: Range<Int>, until deadline: UInt64?, while isWanted: () -> Bool) throws(WebImageError)
        -> Data
    {
        var next = request
        next.part = BodyPart(range: range, mostOfWhole: 0)
        for name in ["If-None-Match", "If-Modified-Since"] { next.additionalHeaders[name] = nil }
        next.additionalHeaders.apply(next.part, ifRange: validator)
        (next.trace, next.partialData) = (nil, nil)
        // A worker waits for it.
        next.priority = .high
        let (arrived, result) = (Latch(), Lock<Result<LoadedImageData, WebImageError>?>(nil))
        let operation = core.start(next, progress: { _ in }) { outcome in
            result.withLock { $0 = outcome }
            arrived.open()
        }
        while !arrived.wait(seconds: Self.pause) {
            let isLate = deadline.map { core.clock.monotonicNanoseconds() >= $0 } ?? false
            guard isLate || !isWanted() else { continue }
            operation.cancel()
            throw isLate ? Self.timedOut : .cancelled()
        }
        guard let loaded = try result.withLock({ $0 })?.get(), let response = loaded.response else {
            throw Self.problem("a part has no response")
        }
        guard response.statusCode == 206 else { throw Self.problem("the video has changed while it was read") }
        let total = try Self.total(response, range, loaded.data)
        let isSame = ["ETag", "Last-Modified"].allSatisfy { name in
            response.headers[name].map { $0 == head[name] } ?? true
        }
        guard total == byteCount, isSame, validator?.fits(response.headers) ?? true else {
            throw Self.problem("the video has changed while it was read")
        }
        return loaded.data
    }

    /// Checks that a response has the bytes of a range, and returns the length of the whole.
    private static func total(_ response: HTTPResponse, _ range: Range<Int>, _ data: Data) throws(WebImageError) -> Int
    {
        guard PartialRules.isPlain(response.headers), !(response.mimeType?.hasPrefix("multipart/") ?? false),
            let answer = response.headers["Content-Range"].flatMap({ ContentRange($0) }),
            Int(answer.first) == range.lowerBound,
            Int(answer.last) == min(range.upperBound, Int(answer.total)) - 1,
            data.count == Int(answer.last) - range.lowerBound + 1
        else { throw problem("the server sent another part than the requested one") }
        return Int(answer.total)
    }

    private static let timedOut = WebImageError(.timedOut, "the parts of the video took longer than allowed")

    private static func problem(_ text: String) -> WebImageError { WebImageError(.invalidDownloadResponse, text) }
}
