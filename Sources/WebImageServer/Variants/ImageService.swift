import FoundationEssentials
import WebImage

/// Answers requests for images: from memory, else by a load of the manager, which shares the work of equal requests.
final class ImageService: HTTPHandling {
    /// The parsed form of a target, so that signatures of repeated requests are not computed again.
    private final class ParsedTarget: Sendable {
        let request: VariantRequest
        init(_ request: VariantRequest) { self.request = request }
    }

    let configuration: ImageServerConfiguration
    let manager: WebImageManager
    private let clock: ClockSource
    private let parsed = EvictingTable<ParsedTarget>(costLimit: 16 << 20)
    private let hot: EvictingTable<ServedImage>
    /// The number of requests whose images are being made.
    private let waiting = ConditionLock(0)

    init(_ configuration: ImageServerConfiguration, manager: WebImageManager, clock: ClockSource = .system) {
        self.configuration = configuration
        self.manager = manager
        self.clock = clock
        hot = EvictingTable(costLimit: max(configuration.hotByteCount, 1))
    }

    // MARK: Requests

    func reply(to request: HTTPRequest) -> HTTPReply {
        if request.method == .options {
            return .now(HTTPAnswer(status: 204, headers: ["Allow": "GET, HEAD, OPTIONS", "Cache-Control": "no-store"]))
        }
        if request.target == "/health" {
            return .now(.text(200, "ok", headers: ["Cache-Control": "no-store"]))
        }
        return image(for: request)
    }

    func ended(_ exchange: HTTPExchangeSummary) {}

    private func image(for request: HTTPRequest) -> HTTPReply {
        let negotiated = configuration.negotiation == .vary ? ["Vary": "Accept"] : HTTPHeaders()
        var fields = Self.protection.overlaid(with: negotiated)
        do throws(ServerError) {
            let variant = try parse(request.target)
            // A format in the URL leaves nothing to negotiate.
            if variant.options.format != nil { fields = Self.protection }
            let accepted = accepted(by: request, variant.options)
            return try image(variant, accepted, for: request, fields)
        } catch {
            return .now(.error(error, fields: fields))
        }
    }

    /// The fields that all answers have: nothing in them can run in a browser.
    private static let protection: HTTPHeaders = [
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "cross-origin",
    ]

    private func parse(_ target: String) throws(ServerError) -> VariantRequest {
        let key = MemoryCacheKey(target)
        if let known = parsed.value(forKey: key) {
            let now = clock.wallTime()
            if let end = known.request.options.expires, Double(end) < now { throw .expired }
            return known.request
        }
        let request = try configuration.grammar.request(
            forPath: target,
            defaults: VariantOptions(),
            now: Int64(clock.wallTime())
        )
        parsed.set(ParsedTarget(request), cost: 1024 + 2 * target.utf8.count, forKey: key)
        return request
    }

    private func accepted(by request: HTTPRequest, _ options: VariantOptions) -> AcceptedFormats {
        guard configuration.negotiation == .vary, options.format == nil else { return [] }
        return AcceptedFormats(accept: request.headers["Accept"]).intersection(configuration.offeredFormats)
    }

    // MARK: Images

    private func image(
        _ variant: VariantRequest,
        _ accepted: AcceptedFormats,
        for request: HTTPRequest,
        _ fields: HTTPHeaders
    ) throws(ServerError) -> HTTPReply {
        let plan = try VariantPlan(variant, accepted: accepted, quality: configuration.quality)
        let key = MemoryCacheKey(plan.key)
        let answer: @Sendable (ServedImage, String) -> HTTPAnswer = { [self] image, origin in
            var answer = image.answer(
                to: request,
                fields: fields,
                now: clock.wallTime(),
                maximumAge: variant.options.maxAge.map(Double.init) ?? configuration.maximumAge
            )
            answer.origin = origin
            return answer
        }
        if let image = hot.value(forKey: key), image.freshUntil > clock.wallTime() {
            return .now(answer(image, "memory"))
        }
        return .later { [self] completion in
            noteWaiting(1)
            return manager.loadEncodedImage(
                with: plan.url,
                options: plan.options,
                context: plan.context,
                encoding: plan.encoding
            ) { [self] result in
                noteWaiting(-1)
                switch result {
                case .success(let encoded):
                    completion(answer(keep(encoded, forKey: key), encoded.source == .disk ? "disk" : "made"))
                case .failure(let error): completion(.error(error.serverError, fields: fields))
                }
            }
        }
    }

    private func noteWaiting(_ change: Int) {
        waiting.withLock { $0 += change }
        waiting.broadcast()
    }

    /// The number of requests whose images are being made.
    var waitingCount: Int { waiting.withLock { $0 } }

    /// Blocks until the number of waiting requests is as wanted; false after so many seconds.
    func wait(seconds: Double, until condition: (Int) -> Bool) -> Bool {
        waiting.wait(seconds: seconds) { condition($0) ? true : nil } ?? false
    }

    /// Keeps an encoded image in memory, if it may be used again. All that wait for it get the same object.
    private func keep(_ encoded: EncodedImage, forKey key: MemoryCacheKey) -> ServedImage {
        let now = clock.wallTime()
        if let known = hot.value(forKey: key), known.freshUntil > now { return known }
        let image = ServedImage(encoded, now: now, unknownLifetime: configuration.unknownLifetime)
        if image.isStorable, image.freshUntil > now { hot.set(image, cost: image.cost, forKey: key) }
        return image
    }
}
