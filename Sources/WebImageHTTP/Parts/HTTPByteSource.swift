import FoundationEssentials

/// A video on a server, of which parts are requested as its decoder reads them.
///
/// Each part is a download like any other: policies, credentials, hooks, retries and limits apply to it. All parts must belong to one version of the
/// file. Blocks the reading thread, which must not be the downloader's.
final class HTTPByteSource: ImageByteSource {
    /// The number of bytes of the first part.
    static let firstByteCount = 64 << 10
    /// The maximum number of bytes of a part.
    private static let mostByteCount = 1 << 20
    /// The maximum number of parts, and so of requests: twice as many as small ones fit into the default limit.
    private static let mostParts = 512

    private struct State {
        /// The parts that were received, in no order; together not longer than the limit.
        var parts: [(range: Range<Int>, data: Data)] = []
        var received = 0
        /// The end and the length of the last part: a reader that goes on there gets longer parts.
        var last = 0..<0
    }

    let byteCount: Int
    let beginning: Data
    private let request: ImageLoadRequest
    private let core: DownloaderCore
    private let limit: Int
    private let deadline: UInt64?
    private let validator: PartialValidator?
    private let head: HTTPHeaders
    /// True if the server sends only the whole file, of which this is the beginning.
    private let isCut: Bool
    /// Also held while a part is requested: two readers that need the same part request it once.
    private let state: Lock<State>

    /// Creates the source of a video whose first part was received.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of bytes of all parts.
    ///   - deadline: the time on the monotonic clock until which parts are requested; nil for any.
    /// - Throws: ``WebImageError/Code/invalidDownloadResponse``.
    init(
        _ first: LoadedImageData,
        of request: ImageLoadRequest,
        from core: DownloaderCore,
        limit: Int,
        deadline: UInt64?
    ) throws(WebImageError) {
        guard let response = first.response else { throw Self.problem("the first part has no response") }
        (self.request, self.core, self.limit, self.deadline) = (request, core, limit, deadline)
        (head, validator) = (response.headers, PartialValidator(response.headers, now: core.clock.wallTime()))
        isCut = response.statusCode != 206
        if isCut {
            byteCount = max(Int(clamping: response.expectedByteCount ?? 0), first.data.count)
        } else {
            byteCount = try Self.total(response, 0..<min(Self.firstByteCount, limit), first.data)
        }
        beginning = first.data.prefix(4 << 10)
        let range = 0..<first.data.count
        state = Lock(State(parts: [(range, first.data)], received: first.data.count, last: range))
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
        guard offset >= 0, offset < byteCount, !buffer.isEmpty else { return 0 }
        return try state.withLock { state throws(WebImageError) in
            if let count = Self.copy(from: state, offset, to: buffer) { return count }
            let part = try nextPart(offset, state)
            let data = try receive(part)
            state.parts.append((part, data))
            state.received += data.count
            state.last = part
            return Self.copy(from: state, offset, to: buffer) ?? 0
        }
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
        if let deadline, core.clock.monotonicNanoseconds() >= deadline {
            throw WebImageError(.timedOut, "the parts of the video took longer than the policy allows")
        }
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

    private func receive(_ range: Range<Int>) throws(WebImageError) -> Data {
        var next = request
        next.part = BodyPart(range: range, mostOfWhole: 0)
        for name in ["If-None-Match", "If-Modified-Since"] { next.additionalHeaders[name] = nil }
        next.additionalHeaders.apply(next.part, ifRange: validator)
        (next.trace, next.partialData) = (nil, nil)
        // A worker waits for it.
        next.priority = .high
        let (arrived, result) = (Latch(), Lock<Result<LoadedImageData, WebImageError>?>(nil))
        _ = core.start(next, progress: { _ in }) { outcome in
            result.withLock { $0 = outcome }
            arrived.open()
        }
        arrived.wait()
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

    private static func problem(_ text: String) -> WebImageError { WebImageError(.invalidDownloadResponse, text) }
}
