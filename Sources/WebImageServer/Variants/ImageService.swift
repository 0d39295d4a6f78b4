import FoundationEssentials
import Glibc
import WebImage

/// Answers requests for images: from memory, else by a load of the manager, which shares the work of equal requests.
final class ImageService: HTTPHandling {
    /// The parsed form of a target, so that signatures and plans of repeated requests are not computed again.
    private final class ParsedTarget: Sendable {
        let request: VariantRequest
        /// False for a format in the URL, which leaves nothing to negotiate, and for an original, which has its own.
        let isNegotiated: Bool
        let expires: Int64?
        /// The `max-age` of the request, in seconds; nil for the server's.
        let maximumAge: Double?
        /// By the formats that a client accepts; at most eight.
        private let plans = Lock<[AcceptedFormats: KeyedPlan]>([:])

        init(_ request: VariantRequest) {
            self.request = request
            let options = request.options
            (isNegotiated, expires) = (options.format == nil && !options.raw, options.expires)
            maximumAge = options.maxAge.map(Double.init)
        }

        func plan(
            for accepted: AcceptedFormats,
            quality: Int,
            _ watermark: ServerWatermark?
        ) throws(ServerError) -> KeyedPlan {
            if let known = plans.withLock({ $0[accepted] }) { return known }
            let plan = KeyedPlan(
                try VariantPlan(request, accepted: accepted, quality: quality, watermark: watermark)
            )
            plans.withLock { $0[accepted] = plan }
            return plan
        }
    }

    /// A plan, and the key of its result.
    private final class KeyedPlan: Sendable {
        let plan: VariantPlan
        let key: MemoryCacheKey

        init(_ plan: VariantPlan) {
            self.plan = plan
            key = MemoryCacheKey(plan.key)
        }
    }

    let configuration: ImageServerConfiguration
    /// The managers that load images.
    struct Managers: Sendable {
        /// For sources on the web, under the configuration's policy.
        var web: WebImageManager
        /// For local files; nil if there are none.
        var local: WebImageManager?
    }

    private let watermark: ServerWatermark?
    private let ladder: SizeLadder?

    /// The manager of sources on the web. It shares its work, caches and counters with that of local files.
    var manager: WebImageManager { managers.web }
    private let managers: Managers
    private let clock: ClockSource
    private let parsed = EvictingTable<ParsedTarget>(costLimit: 16 << 20)
    let hot: EvictingTable<ServedImage>
    /// Images whose files on disk are open.
    let files: EvictingTable<ServedImage>
    let imageLoads: ImageLoads
    let metrics = ServerMetrics()
    private let offered: AcceptedFormats
    private let log: AccessLog?
    private let draining = Lock(false)

    init(
        _ configuration: ImageServerConfiguration,
        managers: Managers,
        watermark: ServerWatermark? = nil,
        clock: ClockSource = .system
    ) {
        self.configuration = configuration
        self.watermark = watermark
        ladder = configuration.sizes.map { SizeLadder($0) }
        self.managers = managers
        self.clock = clock
        offered = AcceptedFormats(configuration.offeredFormats)
        hot = EvictingTable(costLimit: max(configuration.hotByteCount, 1))
        files = EvictingTable(costLimit: 0, countLimit: Self.openFileCount)
        log = configuration.logDescriptor.map { AccessLog(descriptor: $0, clock: clock) }
        let admission = Admission(
            maximumCount: configuration.maximumWaitingCount,
            maximumCountPerClient: configuration.maximumWaitingCountPerClient,
            timeout: configuration.timeout,
            freeJobCount: 4 * CodingQueue.processorCount
        )
        imageLoads = ImageLoads(admission, perHost: configuration.maximumLoadCountPerHost, clock: clock) {
            [manager = managers.web] in
            manager.statistics.waitingDecodes
        }
    }

    /// True if the server is about to end: it is not ready for new clients.
    var isDraining: Bool {
        get { draining.withLock { $0 } }
        set { draining.withLock { $0 = newValue } }
    }

    /// Writes what waits for the log.
    func closeLog() { log?.close() }

    // MARK: Requests

    func reply(to request: HTTPRequest) -> HTTPReply {
        if request.method == .options {
            return .now(HTTPAnswer(status: 204, headers: ["Allow": "GET, HEAD, OPTIONS", "Cache-Control": "no-store"]))
        }
        switch request.target {
        case "/health": return .now(.text(200, "ok", headers: ["Cache-Control": "no-store"]))
        case "/ready":
            let isReady = !isDraining && !imageLoads.isOverdue
            let text = isReady ? "ready" : isDraining ? "draining" : "overdue"
            return .now(.text(isReady ? 200 : 503, text, headers: ["Cache-Control": "no-store"]))
        case "/metrics":
            var answer = HTTPAnswer(status: 200, headers: ["Cache-Control": "no-store"], body: ServedBody(metricsText))
            answer.headers.add(name: "Content-Type", value: "text/plain; version=0.0.4")
            return .now(answer)
        default: return image(for: request)
        }
    }

    func ended(_ exchange: HTTPExchangeSummary) {
        metrics.note(exchange)
        log?.add(exchange)
    }

    private func image(for request: HTTPRequest) -> HTTPReply {
        var fields = configuration.negotiation == .off ? Self.protection : Self.negotiated
        do throws(ServerError) {
            let target = try parse(request.target)
            if !target.isNegotiated { fields = Self.protection }
            let plan = try target.plan(for: accepted(by: request, target), quality: configuration.quality, watermark)
            return image(plan, target, for: request, fields)
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
    private static let negotiated = protection.overlaid(with: ["Vary": "Accept"])

    private func parse(_ target: String) throws(ServerError) -> ParsedTarget {
        let key = MemoryCacheKey(target)
        if let known = parsed.value(forKey: key) {
            if let end = known.expires, Double(end) < clock.wallTime() { throw .expired }
            return known
        }
        let request = try configuration.grammar.request(
            forPath: target,
            defaults: VariantOptions(),
            now: Int64(clock.wallTime())
        )
        try ladder?.check(request.options)
        let target = ParsedTarget(request)
        parsed.set(target, cost: 4096 + 8 * key.string.utf8.count, forKey: key)
        return target
    }

    private func accepted(by request: HTTPRequest, _ target: ParsedTarget) -> AcceptedFormats {
        guard configuration.negotiation != .off, target.isNegotiated else { return [] }
        return AcceptedFormats(accept: request.headers["Accept"]).intersection(offered)
    }

    // MARK: Images

    private func image(
        _ keyed: KeyedPlan,
        _ target: ParsedTarget,
        for request: HTTPRequest,
        _ fields: HTTPHeaders
    ) -> HTTPReply {
        let (plan, key) = (keyed.plan, keyed.key)
        let now = clock.wallTime()
        if let (image, origin) = ready(key, now) {
            return .now(answer(image, origin, target, to: request, fields, now: now))
        }
        let host = plan.url.host()?.lowercased() ?? ""
        switch imageLoads.admit(request.client, host: host, key: key.string) {
        case .admitted: break
        case .clientIsFull(let seconds):
            let error = ServerError(status: 429, message: "Too many requests at a time")
            return .now(.error(error, fields: fields, retryAfter: seconds))
        case .serverIsFull(let seconds):
            return .now(.error(Self.isBusy, fields: fields, retryAfter: seconds))
        }
        let load = ImageLoads.Request(
            client: request.client,
            host: host,
            key: key.string
        ) { [manager = manager(for: plan)] completion in
            manager.loadEncodedImage(
                with: plan.url,
                options: plan.options,
                context: plan.context,
                encoding: plan.encoding,
                completion: completion
            )
        }
        return .later { [self] completion in
            imageLoads.start(load) { [self] outcome in
                switch outcome {
                case .image(let encoded):
                    let (image, origin) = (keep(encoded, forKey: key), encoded.source == .disk ? "disk" : "made")
                    completion(answer(image, origin, target, to: request, fields, now: clock.wallTime()))
                    open(image, encoded, forKey: key)
                case .failure(let error): completion(failure(error.serverError, fields))
                case .expired: completion(failure(expired, fields))
                case .cancelled: completion(failure(Self.isBusy, fields))
                }
            }
        }
    }

    /// Returns an image that can be sent at once, and where it is.
    private func ready(_ key: MemoryCacheKey, _ now: Double) -> (image: ServedImage, origin: String)? {
        if let image = hot.value(forKey: key), image.freshUntil > now { return (image, "memory") }
        guard let image = files.value(forKey: key), image.freshUntil > now else { return nil }
        guard image.isReady(now: now) else {
            files.remove(key)
            return nil
        }
        return (image, "disk")
    }

    private func answer(
        _ image: ServedImage,
        _ origin: String,
        _ target: ParsedTarget,
        to request: HTTPRequest,
        _ fields: HTTPHeaders,
        now: Double
    ) -> HTTPAnswer {
        let maximumAge = target.maximumAge ?? configuration.maximumAge
        var answer = image.answer(to: request, fields: fields, now: now, maximumAge: maximumAge)
        answer.origin = origin
        let redirects = target.isNegotiated && configuration.negotiation == .redirect
        return redirects ? redirect(answer, to: image, for: request, fields) : answer
    }

    /// Opens the file of an image that was read from disk, so that the next requests need not read it. Blocks.
    private func open(_ image: ServedImage, _ encoded: EncodedImage, forKey key: MemoryCacheKey) {
        let now = clock.wallTime()
        guard encoded.source == .disk, let cacheKey = encoded.cacheKey, image.isStorable, image.freshUntil > now,
            // Others that waited for the same load come here, too.
            files.value(forKey: key).map({ $0.freshUntil <= now }) ?? true,
            let entry = manager.imageCache.localImageCache?.openEntry(forKey: cacheKey),
            let file = ServedImage(image, from: entry)
        else { return }
        files.set(file, cost: 1, forKey: key)
    }

    /// The number of open files: a quarter of what the process may have open.
    private static var openFileCount: Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return min(max(Int(min(limit.rlim_cur, 1 << 20)) / 4, 16), 16384)
    }

    private func manager(for plan: VariantPlan) -> WebImageManager {
        guard let local = managers.local, plan.url.scheme?.lowercased() == LocalFiles.scheme else {
            return managers.web
        }
        return local
    }

    /// Returns the redirect to an image's URL with its format. Images whose format has no name in URLs are sent themselves, to nobody else.
    private func redirect(
        _ answer: HTTPAnswer,
        to image: ServedImage,
        for request: HTTPRequest,
        _ fields: HTTPHeaders
    ) -> HTTPAnswer {
        let now = clock.wallTime()
        // AVIF that is named in a URL does not move.
        guard !image.isImageSequence, let path = configuration.grammar.path(request.target, naming: image.format) else {
            var answer = answer
            if let control = answer.headers["Cache-Control"], control.hasPrefix("public") {
                answer.memo = nil
                answer.headers["Cache-Control"] = "private" + control.dropFirst("public".count)
            }
            return answer
        }
        // The same bytes, which the client will ask for next.
        if image.isStorable, image.freshUntil > now, let target = try? parse(path),
            let plan = try? target.plan(for: [], quality: configuration.quality, watermark),
            hot.value(forKey: plan.key) == nil
        {
            switch image.body {
            case .bytes: hot.set(image, cost: image.cost, forKey: plan.key)
            case .file: files.set(image, cost: 1, forKey: plan.key)
            }
        }
        var redirect = HTTPAnswer(status: 302, headers: fields)
        redirect.headers.add(name: "Location", value: path)
        let seconds = image.isStorable ? Int(min(image.freshUntil - now, 300)) : 0
        redirect.headers.add(name: "Cache-Control", value: seconds > 0 ? "private, max-age=\(seconds)" : "no-store")
        redirect.origin = answer.origin
        return redirect
    }

    private static let isBusy = ServerError(status: 503, message: "The server is busy")

    private func failure(_ error: ServerError, _ fields: HTTPHeaders) -> HTTPAnswer {
        .error(error, fields: fields, retryAfter: error.status == 503 ? 1 : nil)
    }

    /// The error of a request whose image was not there in time: the origin's fault, unless decodes wait for processors.
    private var expired: ServerError {
        guard manager.statistics.waitingDecodes == 0 else { return Self.isBusy }
        return ServerError(status: 504, message: "Source does not answer in time")
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
