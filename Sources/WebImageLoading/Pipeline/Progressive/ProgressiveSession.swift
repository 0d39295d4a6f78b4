import FoundationEssentials

/// Decodes one image while it downloads: at most one step at a time, on the decode threads, each with all bytes received so far.
final class ProgressiveSession: RunningWork {
    typealias Completion = @Sendable (Image?) -> Void
    /// Receives the properties of the image before it is complete. It gets them by calling its argument, if needed, and returns
    /// whether it used them.
    typealias HeaderReceiver = @Sendable (_ properties: () -> ImageProperties?) -> Bool

    /// The approximate maximum number of pixels of a preview.
    static let previewPixelCount = 1 << 20
    /// If a coder has not recognized the format within so many bytes, previews are off.
    private static let mostUnrecognized = 64 << 10

    private struct State {
        var next: PartialImageData.Snapshot?
        /// The download attempt of the latest bytes.
        var attempt = 0
        /// The complete bytes, and their completion.
        var end: (data: Data, attempt: Int, completion: Completion)?
        var isRunning = false
        /// True if the budget needs the memory back.
        var isReclaimed = false
        /// True if nothing more is decoded.
        var isOver = false
        var priority: LoadPriority
        var item: WorkItem?
    }

    /// State that only the running step accesses.
    private struct Work {
        var decoder: (any ProgressiveImageDecoder)?
        var attempt = 0
        /// The number of bytes passed to the decoder.
        var given = 0
        var budget = PreviewBudget()
        /// The memory reservation of the image, while a budget is on.
        var room: ProvisionalReservation?
        /// The reported size, upright.
        var told: (width: Int, height: Int)?
        /// True after a failure; previews are off.
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
    // Only the running step accesses it, and steps are ordered by the lock of `state`.
    private nonisolated(unsafe) var work = Work()

    /// Creates a session. Both closures are called on decode threads, one after the other, and not after the completion of
    /// ``finish(_:then:)``.
    ///
    /// - Parameters:
    ///   - budget: Must have memory for the whole image, otherwise previews are off.
    ///   - header: Called in each step until it used the properties, and again if the displayed size turns out to differ.
    ///   - preview: Called with each preview.
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

    /// Passes the bytes received so far.
    func take(_ snapshot: PartialImageData.Snapshot) {
        let former = state.withLock { state -> PartialImageData.Snapshot? in
            guard !state.isOver, state.end == nil else { return snapshot }
            defer { (state.next, state.attempt) = (snapshot, snapshot.attempt) }
            return state.next
        }
        withExtendedLifetime(former) {}
        run()
    }

    /// Passes the complete bytes, of the same download attempt as the latest snapshot.
    ///
    /// - Parameter completion: Called once on a decode thread with the decoded image, unless the session is cancelled first; nil if
    ///   the image has to be decoded in one go.
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

    /// Schedules a step if there is something to do.
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
                // Nothing follows. This breaks the cycles through the item, and through the bytes and their completion.
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
                missingPartCost: decoder.missingPartPreviewCost,
                frameCount: decoder.properties?.frameCount ?? 1
            )
            guard isAllowed else { return nil }
            let (image, seconds) = try timed { () throws(WebImageError) in
                try decoder.image(maximumPreviewPixelCount: Self.previewPixelCount)
            }
            guard let image else { return nil }
            work.budget.notePreview(seconds)
            return image.completed(by: options)
        } catch {
            // The error is reported when the complete image is decoded.
            fail()
            return nil
        }
    }

    /// Stops previews: the image is decoded when it is complete.
    private func fail() {
        work.hasFailed = true
        work.decoder = nil
        work.room = nil
    }

    /// Returns whether memory is reserved for the whole image, at full size as it is kept during the download, and at the requested size.
    /// Only free memory is reserved, and it is released when others need it: previews are not worth evicting cached images.
    private func hasRoom(for data: Data) -> Bool {
        guard memory.isOn, work.room == nil else { return true }
        var whole = options
        (whole.thumbnailPixelSize, whole.scaleDownLimitBytes) = (nil, 0)
        // Unknown until the header has arrived.
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

    /// Returns the complete image; without one, its reservation is released, too.
    private func whole(_ data: Data, _ attempt: Int) -> Image? {
        begin(attempt, data.count)
        var image: Image?
        defer {
            work.decoder = nil
            if image == nil { work.room = nil }
        }
        guard !work.hasFailed, let decoder = work.decoder else {
            // All bytes came at once, or in a format that cannot be decoded incrementally.
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

    /// Reports the properties of the image, unless its size was reported before.
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

    /// Starts again for another download attempt, or if there are fewer bytes than before, whatever the loader reports.
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
