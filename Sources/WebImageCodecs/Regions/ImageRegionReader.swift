/// Schedules the passes and the reads of a source on work queues.
package final class ImageRegionReader: RegionReader {
    package let properties: ImageProperties
    package let levels: [RegionLevel]
    package let tileSize: Int

    /// A read that was started.
    private struct Request: Sendable {
        let area: PixelArea
        let level: Int
        let pending: PendingResult<Result<Image, WebImageError>>
    }

    private struct State {
        var source: any RegionSource
        /// The number of rows that were passed.
        var ready = 0
        var isPassing = false
        /// The error that ended the passes.
        var failure: WebImageError?
        /// Reads that wait for rows.
        var waiting: [Request] = []
    }

    private let state: Lock<State>
    private let queue: WorkQueue
    private let limits: ImageLimits

    /// - Parameter queue: The queue for reads.
    package init(
        _ source: any RegionSource,
        properties: ImageProperties,
        levels: [RegionLevel],
        options: RegionOptions,
        queue: WorkQueue = CodingQueue.shared
    ) {
        state = Lock(State(source: source))
        self.properties = properties
        self.levels = levels
        self.queue = queue
        tileSize = options.usedTileSize
        limits = options.limits
    }

    /// Indicates whether regions of the full size are decoded without the rest of the image.
    package var isNative: Bool { state.withLock { $0.source }.isNative }

    package func read(_ rect: ImageRect, level: Int) async throws(WebImageError) -> Image {
        guard levels.indices.contains(level) else {
            throw .untransformable("there is no level \(level) of \(levels.count)")
        }
        let size = levels[level]
        guard let area = size.area(of: rect) else {
            throw .untransformable(
                "the region \(rect.width)x\(rect.height) at \(rect.x),\(rect.y) is not within \(size.width)x\(size.height)"
            )
        }
        try limits.check(width: area.width, height: area.height)
        try limits.check(decodedByteCount: area.width * area.height * 4)
        let slot = Lock<PendingResult<Result<Image, WebImageError>>?>(nil)
        let isCancelled = Lock(false)
        let result: Result<Image, WebImageError> = await withTaskCancellationHandler {
            await awaitCompletion { completion in
                let request = Request(area: area, level: level, pending: PendingResult(completion))
                slot.withLock { $0 = request.pending }
                if isCancelled.withLock({ $0 }) { return Self.cancel(request.pending) }
                self.start(request)
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
            if let pending = slot.withLock({ $0 }) { Self.cancel(pending) }
        }
        return try result.get()
    }

    private static func cancel(_ pending: PendingResult<Result<Image, WebImageError>>) {
        pending.cancel()?(.failure(.cancelled()))
    }

    private func start(_ request: Request) {
        let item = queue.submit { self.run(request) }
        request.pending.attach(item)
    }

    private enum Step {
        case read(any RegionSource)
        case pass(WorkQueue)
        case wait
        case fail(WebImageError)
    }

    private func run(_ request: Request) {
        guard request.pending.isWanted else { return }
        let step = state.withLock { state -> Step in
            let needed = state.source.rowsNeeded(for: request.area, level: request.level)
            if needed <= state.ready { return .read(state.source) }
            if let failure = state.failure { return .fail(failure) }
            state.waiting.append(request)
            if state.isPassing { return .wait }
            state.isPassing = true
            return .pass(state.source.passQueue ?? queue)
        }
        switch step {
        case .read(let source): read(request, source)
        case .pass(let other) where other === queue: pass()
        case .pass(let other): other.submit { self.pass() }
        case .wait: break
        case .fail(let error): request.pending.finish(.failure(error))
        }
    }

    private func read(_ request: Request, _ source: any RegionSource) {
        let pending = request.pending
        let check = RegionCheck(DecodeDeadline(limits)) { pending.isWanted }
        do throws(WebImageError) {
            pending.finish(.success(try source.read(request.area, level: request.level, check: check)))
        } catch {
            pending.finish(.failure(error))
        }
    }

    /// Passes rows as long as reads wait for them. On the queue of the source, passes of several readers take turns.
    private func pass() {
        while true {
            let source = state.withLock { $0.source }
            let result: Result<Int, WebImageError>
            do throws(WebImageError) { result = .success(try source.advance()) } catch {
                result = replace(source, after: error)
            }
            let (requests, isOver) = state.withLock { state -> ([Request], Bool) in
                switch result {
                case .success(let rows): state.ready = rows
                case .failure(let error): state.failure = error
                }
                let hasFailed = state.failure != nil
                var done: [Request] = []
                var waiting: [Request] = []
                for request in state.waiting where request.pending.isWanted {
                    let needed = state.source.rowsNeeded(for: request.area, level: request.level)
                    if hasFailed || needed <= state.ready { done.append(request) } else { waiting.append(request) }
                }
                state.waiting = waiting
                if waiting.isEmpty { state.isPassing = false }
                return (done, waiting.isEmpty)
            }
            for request in requests { start(request) }
            if isOver { return }
            if let passQueue = state.withLock({ $0.source.passQueue }) {
                passQueue.submit { self.pass() }
                return
            }
        }
    }

    /// Continues with another source, if there is one.
    private func replace(_ source: any RegionSource, after error: WebImageError) -> Result<Int, WebImageError> {
        do throws(WebImageError) {
            guard let other = try source.replacement(after: error) else { return .failure(error) }
            state.withLock { $0.source = other }
            return .success(0)
        } catch {
            return .failure(error)
        }
    }
}
