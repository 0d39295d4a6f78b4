import FoundationEssentials

/// Decodes one picture while it arrives: at most one step at a time, on the threads for decoding, and each with all that has come
/// meanwhile.
final class ProgressiveSession: RunningWork {
    typealias Completion = @Sendable (Image?) -> Void
    /// Told what is known of the picture before it is there; gets it by calling its argument, if it is of use. Whether it was.
    typealias HeaderReceiver = @Sendable (_ properties: () -> ImageProperties?) -> Bool

    /// About the most pixels of a preview.
    static let previewPixelCount = 1 << 20
    /// When a coder has not recognised so many bytes, there are no previews.
    private static let mostUnrecognized = 64 << 10

    private struct State {
        var next: PartialImageData.Snapshot?
        /// The beginning that what came last belongs to.
        var attempt = 0
        /// The whole picture, and who wants it.
        var end: (data: Data, attempt: Int, completion: Completion)?
        var isRunning = false
        /// Somebody else needs the memory.
        var isReclaimed = false
        /// Nothing more is decoded.
        var isOver = false
        var priority: LoadPriority
        var item: WorkItem?
    }

    /// What only the step that runs touches.
    private struct Work {
        var decoder: (any ProgressiveImageDecoder)?
        var attempt = 0
        /// Bytes that the decoder was given.
        var given = 0
        var budget = PreviewBudget()
        /// The memory of the picture, while a budget is on.
        var room: ArrivingRoom?
        /// The size, upright, that was told.
        var told: (width: Int, height: Int)?
        /// The bytes are no picture for it.
        var hasFailed = false
    }

    private let coder: any ProgressiveImageCoder
    private let options: ImageDecodeOptions
    private let queue: WorkQueue
    private let clock: ClockSource
    private let memory: DecodedMemoryBudget
    private let header: HeaderReceiver
    private let preview: @Sendable (Image) -> Void
    private let state: Lock<State>
    // Only the step that runs touches it, and one step follows the other by way of the lock of `state`.
    private nonisolated(unsafe) var work = Work()

    /// Both closures are called on decode threads, one after the other, and not after the completion of
    /// ``finish(_:then:)``.
    ///
    /// - Parameters:
    ///   - budget: where there must be room for the whole picture, or there are no previews.
    ///   - header: asked in each step until it was of use, and then when the size as the picture is shown turns out to be another.
    ///   - preview: called with each preview.
    init(
        coder: any ProgressiveImageCoder,
        options: ImageDecodeOptions,
        priority: LoadPriority,
        queue: WorkQueue,
        clock: ClockSource,
        budget: DecodedMemoryBudget = .shared,
        header: @escaping HeaderReceiver = { _ in false },
        preview: @escaping @Sendable (Image) -> Void
    ) {
        self.coder = coder
        self.options = options
        self.queue = queue
        self.clock = clock
        memory = budget
        self.header = header
        self.preview = preview
        state = Lock(State(priority: priority))
    }

    /// Takes what has come so far.
    func take(_ snapshot: PartialImageData.Snapshot) {
        let former = state.withLock { state -> PartialImageData.Snapshot? in
            guard !state.isOver, state.end == nil else { return snapshot }
            defer { (state.next, state.attempt) = (snapshot, snapshot.attempt) }
            return state.next
        }
        withExtendedLifetime(former) {}
        run()
    }

    /// Takes the whole picture, of the beginning that what came last belongs to.
    ///
    /// - Parameter completion: called once on a decode thread, unless the session is cancelled first, with what was decoded; nil when
    ///   the picture has to be decoded at once.
    func finish(_ data: Data, then completion: @escaping Completion) {
        state.withLock { if !$0.isOver { $0.end = (data, $0.attempt, completion) } }
        run()
    }

    func cancel() {
        let former = state.withLock { state -> State in
            defer {
                state.isOver = true
                (state.next, state.end) = (nil, nil)
            }
            return state
        }
        former.item?.cancel()
    }

    func setPriority(_ priority: LoadPriority) {
        let item = state.withLock { state -> WorkItem? in
            state.priority = priority
            return state.item
        }
        item?.setPriority(priority)
    }

    /// Sees to it that a step runs if there is something to do.
    private func run() {
        let priority = state.withLock { state -> LoadPriority? in
            let hasWork = state.next != nil || state.end != nil || state.isReclaimed
            guard !state.isRunning, !state.isOver, hasWork else { return nil }
            state.isRunning = true
            return state.priority
        }
        guard let priority else { return }
        let item = queue.submit(priority: priority) { [self] in step() }
        state.withLock { if $0.isRunning { $0.item = item } }
    }

    private func step() {
        let (snapshot, end, isReclaimed) = state.withLock { state in
            defer {
                state.next = nil
                state.isReclaimed = false
                // Nothing follows, and this is kept by what it would keep: the item, and the bytes with who waits for their picture.
                if state.end != nil {
                    (state.isOver, state.isRunning) = (true, false)
                    (state.end, state.item) = (nil, nil)
                }
            }
            return (state.next, state.end, state.isReclaimed)
        }
        if isReclaimed { fail() }
        if let end {
            let image = whole(end.data, end.attempt)
            let room = work.room.take()
            guard let image, let room else { return end.completion(image) }
            return room.goOn(with: image) { end.completion(image) }
        }
        if let snapshot, let image = partial(snapshot), !state.withLock({ $0.isOver }) {
            memory.hold(image)
            preview(image)
        }
        state.withLock { state in
            state.isRunning = false
            state.item = nil
        }
        run()
    }

    // MARK: Decoding

    private func partial(_ snapshot: PartialImageData.Snapshot) -> Image? {
        begin(snapshot.attempt, snapshot.data.count)
        guard !work.hasFailed, hasRoom(for: snapshot.data), let decoder = decoder(for: snapshot.data) else {
            return nil
        }
        do throws(WebImageError) {
            work.budget.noteDecode(
                try timed { () throws(WebImageError) in try decoder.update(snapshot.data, isFinished: false) }.seconds
            )
            tell { decoder.properties }
            let isAllowed = work.budget.allowsPreview(
                byteCount: snapshot.data.count,
                of: snapshot.expectedByteCount,
                missingPartCost: decoder.missingPartPreviewCost
            )
            guard isAllowed else { return nil }
            let (image, seconds) = try timed { () throws(WebImageError) in
                try decoder.image(maximumPreviewPixelCount: Self.previewPixelCount)
            }
            guard let image else { return nil }
            work.budget.notePreview(seconds)
            return image.completed(by: options)
        } catch {
            // The whole picture will tell what is wrong.
            fail()
            return nil
        }
    }

    /// No more previews: the picture is decoded when it is whole.
    private func fail() {
        work.hasFailed = true
        work.decoder = nil
        work.room = nil
    }

    /// Whether there is memory for all of the picture, at full size as it is kept while it arrives, and as it is wanted. It must be there
    /// already, and is given back when others need it: previews are not worth an image of a cache.
    private func hasRoom(for data: Data) -> Bool {
        guard memory.isOn, work.room == nil else { return true }
        var whole = options
        (whole.thumbnailPixelSize, whole.scaleDownLimitBytes) = (nil, 0)
        // As long as the header is not there, nobody knows.
        guard let full = try? coder.memoryNeed(of: data, options: whole),
            let own = try? coder.memoryNeed(of: data, options: options)
        else { return false }
        let need = full.totalByteCount.addingReportingOverflow(own.outputByteCount)
        work.room = memory.roomOfWhatIsLeft(need.overflow ? .max : need.partialValue) { [weak self] in
            self?.state.withLock { $0.isReclaimed = true }
            self?.run()
        }
        if work.room == nil { fail() }
        return work.room != nil
    }

    /// The picture; without one there is no room for it either.
    private func whole(_ data: Data, _ attempt: Int) -> Image? {
        begin(attempt, data.count)
        var image: Image?
        defer {
            work.decoder = nil
            if image == nil { work.room = nil }
        }
        guard !work.hasFailed, let decoder = work.decoder else {
            // All has come at once, or in a format that is no use in parts.
            tell { try? coder.properties(of: data, limits: options.limits) }
            return nil
        }
        do throws(WebImageError) {
            try decoder.update(data, isFinished: true)
            tell { decoder.properties }
            image = try decoder.image(maximumPreviewPixelCount: Self.previewPixelCount)
        } catch {
            image = nil
        }
        return image
    }

    /// Tells what is known of the picture, unless its size was told before.
    private func tell(_ properties: () -> ImageProperties?) {
        var size: (width: Int, height: Int)?
        let former = work.told
        let wasOfUse = header {
            guard let properties = properties() else { return nil }
            let found = properties.uprightSize
            if let former, former == found { return nil }
            size = found
            return properties
        }
        if wasOfUse { work.told = size }
    }

    /// Another beginning is another picture; so are fewer bytes than there were, whatever the loader says.
    private func begin(_ attempt: Int, _ byteCount: Int) {
        if attempt != work.attempt || byteCount < work.given {
            work = Work()
            work.attempt = attempt
        }
        work.given = byteCount
    }

    private func decoder(for data: Data) -> (any ProgressiveImageDecoder)? {
        if let decoder = work.decoder { return decoder }
        guard coder.canDecodeIncrementally(data) else {
            if data.count >= Self.mostUnrecognized { work.hasFailed = true }
            return nil
        }
        let decoder = coder.makeProgressiveDecoder(options: options)
        work.decoder = decoder
        return decoder
    }

    private func timed<Value>(
        _ body: () throws(WebImageError) -> Value
    ) throws(WebImageError) -> (value: Value, seconds: Double) {
        let start = clock.monotonicNanoseconds()
        let value = try body()
        let end = clock.monotonicNanoseconds()
        return (value, end > start ? Double(end - start) / 1e9 : 0)
    }
}
