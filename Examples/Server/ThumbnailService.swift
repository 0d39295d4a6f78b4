import FoundationEssentials
import Glibc
import Synchronization
import WebImage

/// Answers `/thumbnail?url=…&width=…&height=…` and `/metrics`.
final class ThumbnailService: Sendable {
    private struct State {
        var running = 0
        /// Answers to `/thumbnail` by status.
        var answers: [Int: Int] = [:]
    }

    private let manager: WebImageManager
    private let maxThumbnails: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - rules: sources that may be asked although they are not on the public internet.
    ///   - maxThumbnails: requests for thumbnails at a time. More are refused, and `/metrics` is still answered.
    init(allowing rules: [SourceRule], maxThumbnails: Int) {
        // URLs come from users: only public addresses, and limits for bytes, pixels and time. Here tighter than the defaults.
        var policy = SourcePolicy.untrusted
        policy.allowed = rules
        policy.maximumByteCount = 16 << 20
        policy.maximumDuration = 15
        manager = WebImageManager(policy: policy)
        // The origin says how long the cached image may be used. A URL that is no image is not tried again for a minute.
        manager.cachePolicy = .http
        manager.failedURLLifetime = 60
        self.maxThumbnails = maxThumbnails
    }

    func respond(to request: Request) async -> Response {
        switch request.path {
        case "/thumbnail":
            let response = await limitedThumbnail(for: request)
            state.withLock { $0.answers[response.status, default: 0] += 1 }
            return response
        case "/metrics":
            let headers = ["Content-Type": "text/plain; version=0.0.4"]
            return Response(status: 200, headers: headers, body: Data(metrics.utf8))
        default: return .error(404, "not found")
        }
    }

    /// Cancels all loads. Their requests are answered with an error.
    func cancelAll() { manager.cancelAll() }

    private func limitedThumbnail(for request: Request) async -> Response {
        let isAdmitted = state.withLock { state in
            guard state.running < maxThumbnails else { return false }
            state.running += 1
            return true
        }
        guard isAdmitted else { return .error(503, "too many requests at a time") }
        defer { state.withLock { $0.running -= 1 } }
        return await thumbnail(for: request)
    }

    private func thumbnail(for request: Request) async -> Response {
        let sides = ["width", "height"].compactMap { Double(request.query[$0] ?? "400") }
        guard let url = request.query["url"].flatMap({ URL(string: $0) }), sides.count == 2,
            sides.allSatisfy((1...2000).contains)
        else { return .error(400, "needs url, and width and height from 1 to 2000") }
        // The image is decoded at this size. Requests for the same one share the download and the decode.
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: sides[0], height: sides[1])
        do {
            let image = try await manager.image(with: url, options: .decodeFirstFrameOnly, context: context)
            let format: ImageFormat = request.headers["accept"]?.contains("image/webp") == true ? .webp : .jpeg
            var options = ImageEncodeOptions()
            options.compressionQuality = 0.8
            let body = try await image.encoded(as: format, options: options)
            let headers = [
                "Content-Type": format.mimeType, "Cache-Control": "public, max-age=86400", "Vary": "Accept",
            ]
            return Response(status: 200, headers: headers, body: body)
        } catch {
            // The message is for the log: it can describe the network of the server, which is not the user's business.
            log("\(error.httpStatus): \(error)")
            return .error(error.httpStatus, "no thumbnail")
        }
    }

    /// What the library counts, in Prometheus's text format.
    private var metrics: String {
        let loads = manager.statistics
        let memory = DecodedMemoryBudget.shared.usage
        let (running, answers) = state.withLock { ($0.running, $0.answers) }
        var lines: [String] = []
        func add(_ name: String, _ type: String, _ values: [(labels: String, value: Int)]) {
            lines.append("# TYPE \(name) \(type)")
            lines += values.map { "\(name)\($0.labels) \($0.value)" }
        }
        add("thumbnail_requests_running", "gauge", [("", running)])
        add(
            "thumbnail_responses_total",
            "counter",
            answers.sorted { $0.key < $1.key }.map { ("{status=\"\($0)\"}", $1) }
        )
        let caches = [("memory", loads.memory), ("disk", loads.disk)]
        add("webimage_cache_hits_total", "counter", caches.map { ("{level=\"\($0)\"}", $1.hits) })
        add("webimage_cache_misses_total", "counter", caches.map { ("{level=\"\($0)\"}", $1.misses) })
        add("webimage_downloads_total", "counter", [("", loads.downloads)])
        add("webimage_download_failures_total", "counter", [("", loads.downloadFailures)])
        add("webimage_received_bytes_total", "counter", [("", Int(loads.receivedByteCount))])
        add("webimage_decodes_total", "counter", [("", loads.decodes)])
        add("webimage_coalesced_total", "counter", [("", loads.joined)])
        add("webimage_downloads_waiting", "gauge", [("", loads.waitingDownloads)])
        add("webimage_decodes_waiting", "gauge", [("", loads.waitingDecodes + memory.waitingCount)])
        add(
            "webimage_decoded_bytes",
            "gauge",
            [("{of=\"images\"}", memory.heldByteCount), ("{of=\"decodes\"}", memory.inFlightByteCount)]
        )
        return lines.joined(separator: "\n") + "\n"
    }
}

extension WebImageError {
    /// The status that tells an HTTP client whose fault it is and whether another attempt makes sense.
    var httpStatus: Int {
        switch code {
        // The same for both: a user need not learn which addresses exist in the server's network.
        case .invalidURL, .sourceRefused: 400
        case .invalidDownloadStatusCode: statusCode == 404 || statusCode == 410 ? 404 : 502
        case .limitExceeded:
            // The memory budget was full, which passes, unless this one image needs more than all of it.
            if let limit, limit.name == "memoryBudget", limit.required <= limit.allowed { 503 } else { 413 }
        case .badImageData, .unsupportedFormat, .blacklisted, .decoderCrashed, .decodeTimedOut, .pageNotFound,
            .previewNotFound:
            422
        case .timedOut: 504
        case .outOfMemory, .cancelled: 503
        case .decoderUnavailable, .encodingFailed: 500
        // The host does not exist, does not answer, or answers nonsense.
        default: 502
        }
    }
}

extension Response {
    static func error(_ status: Int, _ text: String) -> Response {
        var headers = ["Content-Type": "text/plain", "Cache-Control": "no-store"]
        if status == 503 { headers["Retry-After"] = "1" }
        return Response(status: status, headers: headers, body: Data("\(text)\n".utf8))
    }
}

/// Prints a line at once, also where standard output is a pipe or a file.
func log(_ line: String) {
    print(line)
    fflush(nil)
}
