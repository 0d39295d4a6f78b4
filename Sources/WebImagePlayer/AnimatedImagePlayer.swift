/// Plays the frames of an animation.
///
/// A player has no thread. A ``displayLink`` or calls of ``update(at:)`` drive it with the time, and ``animationFrameHandler``
/// receives the frames to draw. Frames are decoded ahead on the library's threads. No frame is skipped for being late: the
/// animation waits until it is decoded. Frames that cannot be decoded are skipped. All players of the same animation share its
/// decoded frames.
///
/// Use a player on one thread at a time, such as the user interface's; handlers are called on it. Releasing the player stops it.
public final class AnimatedImagePlayer {
    /// The source of the frames.
    package let provider: any AnimatedImageProvider
    /// The frame that is shown; nil before the first one.
    public private(set) var currentFrame: Image?
    /// The index of the current frame. It advances when that frame's time is over, before the next frame is shown, and when a seek
    /// begins.
    public var currentFrameIndex: Int { playback.index }
    /// The number of loops played.
    public var currentLoopCount: Int { playback.loopCount }
    /// The number of frames, initially the provider's. Set it as more frames of a growing animation arrive.
    public var totalFrameCount: Int {
        get { playback.frameCount }
        set { playback.frameCount = max(newValue, 0) }
    }
    /// The number of times to play; 0 plays forever. Initially the animation's own loop count.
    public var totalLoopCount: Int {
        get { playback.totalLoopCount }
        set { playback.totalLoopCount = max(newValue, 0) }
    }
    /// The playback speed: 1, the default, is the animation's own speed, 2 is twice as fast. 0 or less stops at the next tick.
    public var playbackRate: Double {
        get { playback.rate }
        set { playback.rate = newValue.isFinite ? newValue : 1 }
    }
    /// The order of the frames, ``AnimationPlaybackMode/normal`` by default. Set it before starting.
    public var playbackMode: AnimationPlaybackMode {
        get { playback.mode }
        set { playback.mode = newValue }
    }
    /// The maximum bytes of decoded frames in memory, shared by all players of the animation: the largest value among those that
    /// play, or among all if none plays. Regardless of it, each playing player keeps the shown frame and the next one. 0, the
    /// default, is a fifth of the memory that the process may use, or three fifths of the free memory if that is less. With 1, no
    /// frame is kept for later; `Int.max` keeps all frames.
    public var maxBufferSize = 0 { didSet { (byteLimit, requested) = (nil, nil) } }
    /// Called with each frame when it is due.
    public var animationFrameHandler: ((_ index: Int, _ frame: Image) -> Void)?
    /// Called with the number of loops played, when frame 0 becomes the next one.
    public var animationLoopHandler: ((_ loopCount: Int) -> Void)?
    /// A Boolean value that indicates whether the animation plays.
    public private(set) var isPlaying = false
    /// A Boolean value that indicates whether the frame of ``beginSeeking(toFrameAt:loopCount:)`` has yet to be shown.
    public private(set) var isSeeking = false
    /// The clock that drives the player; nil if ``update(at:)`` is called instead.
    public var displayLink: (any AnimationDisplayLink)? {
        willSet { stopDisplayLink() }
        didSet { updateDisplayLink() }
    }

    private var playback: AnimationPlayback
    private let pools: AnimationFramePools
    private let pool: AnimationFramePool
    private let id: UInt64
    private let memory: SystemMemory
    private var lastReading: Double?
    private var isLinkRunning = false
    /// The byte limit computed from ``maxBufferSize``; nil until computed.
    private var byteLimit: Int?
    /// The last request to the pool; nil if it has to be repeated.
    private var requested: Request?

    /// The values that determine which frames are needed next.
    private struct Request: Equatable {
        let index: Int
        let isPending: Bool
        let frameCount: Int
        let mode: AnimationPlaybackMode
    }

    /// Creates a player of an animation; nil if it has only one frame.
    public convenience init?(provider: any AnimatedImageProvider) {
        self.init(provider: provider, pools: .shared)
    }

    /// Creates a player of an image; nil if the image is not animated.
    public convenience init?(image: Image) {
        guard let animation = image.animation else { return nil }
        self.init(provider: animation)
    }

    init?(provider: any AnimatedImageProvider, pools: AnimationFramePools, memory: SystemMemory = SystemMemory()) {
        guard provider.frameCount > 1 else { return nil }
        self.provider = provider
        self.pools = pools
        self.memory = memory
        playback = AnimationPlayback(frameCount: provider.frameCount, totalLoopCount: provider.loopCount)
        (pool, id) = pools.join(provider)
    }

    deinit {
        displayLink?.stop()
        pools.leave(pool, player: id)
    }

    // MARK: Playing

    /// Starts or resumes. Calls no handler.
    public func startPlaying() {
        guard !isPlaying else { return }
        isPlaying = true
        lastReading = nil
        playback.start()
        // The first frame of an image is already decoded.
        requestFrames(first: currentFrame == nil ? (provider as? AnimatedImage)?.image : nil)
        updateDisplayLink()
    }

    /// Pauses. Frames stay in memory as far as ``maxBufferSize`` allows and no other player of the animation needs the space; none is
    /// decoded ahead.
    public func pausePlaying() {
        guard isPlaying else { return }
        isPlaying = false
        if isSeeking { requestFrames() } else { withdraw() }
        updateDisplayLink()
    }

    /// Releases the frames that are not needed next, unless another player of the animation plays. For a player about to be paused
    /// because it is not visible. It can resume from the remaining frames without decoding earlier ones again.
    package func dropFramesOfThePast() { pool.dropUnneeded(by: id) }

    /// Stops and returns to the beginning without calling a handler. Frames stay in memory as they do in a pause.
    public func stopPlaying() {
        endSeeking()
        pausePlaying()
        playback.reset()
        currentFrame = nil
        lastReading = nil
    }

    /// Shows a frame now, decoding it on this thread if it is not in memory. Does nothing if the index is out of range.
    ///
    /// Cost: if frames are drawn over each other, a seek decodes every frame from the last keyframe (a frame that covers all before
    /// it), or from a canvas kept by an earlier seek. In the worst case these are all frames. A seek also waits for a frame that
    /// another player decodes. User interfaces should call ``beginSeeking(toFrameAt:loopCount:)``.
    ///
    /// - Parameters:
    ///   - index: The index of the frame.
    ///   - loopCount: The number of loops that count as played.
    /// - Throws: The provider's error for the frame.
    public func seek(toFrameAt index: Int, loopCount: Int) throws(WebImageError) {
        guard (0..<playback.frameCount).contains(index) else { return }
        let frame: Image
        if case .there(let existing) = pool.use(index) {
            frame = existing
        } else {
            frame = try provider.frame(at: index)
        }
        showSought(frame, index, loopCount)
    }

    /// Seeks to a frame and shows it as soon as it is decoded: now if it is in memory, otherwise in the first ``update(at:)`` after it
    /// has been decoded on the library's threads. Does nothing if the index is out of range.
    ///
    /// This never blocks, so it can follow a slider: each call cancels pending decoding for the previous one. It also works while
    /// paused: the display link runs until the frame is shown. Without a display link, call ``update(at:)`` while ``isSeeking`` is true.
    /// If the frame cannot be decoded, the previous one stays.
    ///
    /// - Parameters:
    ///   - index: The index of the frame. ``currentFrameIndex`` changes to it immediately.
    ///   - loopCount: The number of loops that count as played.
    public func beginSeeking(toFrameAt index: Int, loopCount: Int) {
        guard (0..<playback.frameCount).contains(index) else { return }
        if case .there(let frame) = pool.use(index) { return showSought(frame, index, loopCount) }
        guard playback.seek(to: index, loopCount: loopCount, isShown: false) else { return }
        isSeeking = true
        requestFrames()
        updateDisplayLink()
    }

    private func showSought(_ frame: Image, _ index: Int, _ loopCount: Int) {
        guard playback.seek(to: index, loopCount: loopCount) else { return }
        endSeeking()
        show(frame, index)
        if isPlaying { requestFrames() }
    }

    private func endSeeking() {
        guard isSeeking else { return }
        isSeeking = false
        if !isPlaying { withdraw() }
        updateDisplayLink()
    }

    /// Removes the frames in memory for all players of the animation, except the next ones of those that play, which could only
    /// be recreated by drawing everything before them. Frames that failed to decode are tried again.
    public func clearFrameBuffer() { pool.removeAll() }

    // MARK: Time

    /// Advances to a clock reading, in seconds since any fixed moment. The first reading after a start counts as the start; a
    /// reading earlier than the last adds no time.
    public func update(at seconds: Double) {
        guard isPlaying, seconds.isFinite else { return showAwaited() }
        let elapsed = seconds - (lastReading ?? seconds)
        lastReading = seconds
        advance(by: elapsed)
    }

    /// The seconds until the next frame can be due, for callers that sleep between frames; 0 while a frame is pending, as after
    /// ``beginSeeking(toFrameAt:loopCount:)``.
    public var timeUntilNextFrame: Double { playback.remaining { provider.duration(at: $0) } }

    private func advance(by elapsed: Double) {
        let actions = playback.tick(elapsed) { [provider] in
            provider.duration(at: $0)
        } isThere: { [pool] in
            pool.contains($0)
        }
        for action in actions {
            // A handler may have stopped the player.
            guard isPlaying else { return }
            switch action {
            case .show(let index):
                isSeeking = false
                if case .there(let frame) = pool.use(index) { show(frame, index) }
            case .loop(let count): animationLoopHandler?(count)
            case .stop: stopPlaying()
            }
        }
        // Most ticks change nothing.
        if isPlaying, requested != request { requestFrames() }
    }

    private func show(_ frame: Image, _ index: Int) {
        currentFrame = frame
        animationFrameHandler?(index, frame)
    }

    /// Shows the sought frame while paused, if it has been decoded.
    private func showAwaited() {
        guard !isPlaying, isSeeking, pool.contains(playback.index) else { return }
        let index = playback.index
        playback.noteShown()
        let found = pool.use(index)
        endSeeking()
        if case .there(let frame) = found { show(frame, index) }
    }

    private func updateDisplayLink() {
        guard isPlaying || isSeeking else { return stopDisplayLink() }
        guard !isLinkRunning, let displayLink else { return }
        isLinkRunning = true
        displayLink.start { [weak self] seconds in self?.update(at: seconds) }
    }

    private func stopDisplayLink() {
        guard isLinkRunning else { return }
        isLinkRunning = false
        displayLink?.stop()
    }

    // MARK: Memory

    /// The number of frames to decode ahead, as far as the budget allows: enough to absorb one slow frame.
    private static let readAhead = 4

    private var request: Request {
        Request(
            index: playback.index,
            isPending: playback.isPending,
            frameCount: playback.frameCount,
            mode: playback.mode
        )
    }

    private func withdraw() {
        requested = nil
        pool.withdraw(id)
    }

    private func requestFrames(first: Image? = nil) {
        requested = request
        let limit = byteLimit ?? AnimationBudget.byteCount(maxBufferSize, memory: memory)
        byteLimit = limit
        pool.wish(
            id,
            for: isPlaying ? playback.upcoming(Self.readAhead) : [playback.index],
            isWaiting: playback.isPending,
            byteLimit: limit,
            first: first
        )
    }
}
