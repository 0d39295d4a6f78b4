/// Shows the frames of an animation in time.
///
/// A player has no thread: whoever draws tells it the time, by way of a ``displayLink`` or with ``update(at:)``, and it says in
/// ``animationFrameHandler`` what to draw. Frames are decoded ahead on the library's threads. No frame is skipped: when one is not
/// ready in time the animation waits for it. Players of one animation share its frames, whoever they belong to.
///
/// A player belongs to one thread at a time, such as that of the user interface; handlers are called on it. Letting go of the
/// player ends everything.
public final class AnimatedImagePlayer {
    /// Where the frames come from.
    public let provider: any AnimatedImageProvider
    /// The frame that is shown; nil before the first one.
    public private(set) var currentFrame: Image?
    /// The number of the frame that is shown, or will be next.
    public var currentFrameIndex: Int { playback.index }
    /// Loops that have been played.
    public var currentLoopCount: Int { playback.loopCount }
    /// Number of frames. Those of the provider; may be set when there are more, as long as an animation is still arriving.
    public var totalFrameCount: Int {
        get { playback.frameCount }
        set { playback.frameCount = max(newValue, 0) }
    }
    /// How often to play; 0 is for ever. What the animation says, unless it is set.
    public var totalLoopCount: Int {
        get { playback.totalLoopCount }
        set { playback.totalLoopCount = max(newValue, 0) }
    }
    /// How fast to play; 1, the default, is what the animation says, 2 is twice as fast. 0 and less stop at the next tick.
    public var playbackRate: Double {
        get { playback.rate }
        set { playback.rate = newValue.isFinite ? newValue : 1 }
    }
    /// In which order. ``AnimationPlaybackMode/normal`` by default. Set it before the start.
    public var playbackMode: AnimationPlaybackMode {
        get { playback.mode }
        set { playback.mode = newValue }
    }
    /// Most bytes of frames in memory, for all players of the animation together; at least one frame is kept whatever this says.
    /// 0, the default, is a fifth of the memory that the process may use, or three fifths of what is free if that is less. With 1
    /// nothing is kept; `Int.max` keeps all frames.
    public var maxBufferSize = 0 { didSet { frameLimit = nil } }
    /// Called with each frame when it is to be shown.
    public var animationFrameHandler: ((_ index: Int, _ frame: Image) -> Void)?
    /// Called with the number of loops played, when frame 0 becomes the next one.
    public var animationLoopHandler: ((_ loopCount: Int) -> Void)?
    /// Whether it plays.
    public private(set) var isPlaying = false
    /// What tells the time; nil when ``update(at:)`` is called instead.
    public var displayLink: (any AnimationDisplayLink)? {
        willSet { if isPlaying { displayLink?.stop() } }
        didSet { if isPlaying { startDisplayLink() } }
    }

    private var playback: AnimationPlayback
    private let pools: AnimationFramePools
    private let pool: AnimationFramePool
    private let id: UInt64
    private let memory: SystemMemory
    private var lastReading: Double?
    /// Frames that the budget allows; nil when it has to be computed.
    private var frameLimit: Int?

    /// A player of an animation; nil if that has only one frame.
    public convenience init?(provider: any AnimatedImageProvider) {
        self.init(provider: provider, pools: .shared)
    }

    /// A player of an image; nil if that does not move.
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

    /// Begins, or goes on where it was paused. Calls no handler.
    public func startPlaying() {
        guard !isPlaying else { return }
        isPlaying = true
        lastReading = nil
        playback.start()
        // The first frame of an image has been decoded.
        requestFrames(first: currentFrame == nil ? (provider as? AnimatedImage)?.image : nil)
        startDisplayLink()
    }

    /// Stays where it is.
    public func pausePlaying() {
        guard isPlaying else { return }
        isPlaying = false
        displayLink?.stop()
    }

    /// Ends, and goes back to the beginning without calling a handler. Frames stay in memory.
    public func stopPlaying() {
        pausePlaying()
        playback.reset()
        currentFrame = nil
        lastReading = nil
    }

    /// Shows a frame now. Nothing happens if it does not exist.
    ///
    /// - Parameters:
    ///   - index: of the frame.
    ///   - loopCount: loops that count as played.
    /// - Throws: what the provider throws for the frame. Cost: decodes it on this thread, if it is not in memory.
    public func seek(toFrameAt index: Int, loopCount: Int) throws(WebImageError) {
        guard (0..<playback.frameCount).contains(index) else { return }
        let frame: Image
        if case .there(let existing) = pool.use(index) {
            frame = existing
        } else {
            frame = try provider.frame(at: index)
        }
        guard playback.seek(to: index, loopCount: loopCount) else { return }
        show(frame, index)
        requestFrames()
    }

    /// Drops the frames that are in memory, for all players of the animation.
    public func clearFrameBuffer() { pool.removeAll() }

    // MARK: Time

    /// Goes on to a reading of the clock, in seconds since any moment. The first one after a start counts as the start, and one that
    /// lies before the last counts for nothing.
    public func update(at seconds: Double) {
        guard isPlaying, seconds.isFinite else { return }
        let elapsed = seconds - (lastReading ?? seconds)
        lastReading = seconds
        advance(by: elapsed)
    }

    /// Seconds until the next frame can be due; 0 when one is awaited. For whoever sleeps between frames.
    public var timeUntilNextFrame: Double { playback.remaining { provider.duration(at: $0) } }

    private func advance(by elapsed: Double) {
        let actions = playback.tick(elapsed) { [provider] in
            provider.duration(at: $0)
        } isThere: { [pool] in
            pool.contains($0)
        }
        for action in actions {
            // A handler may have stopped it.
            guard isPlaying else { return }
            switch action {
            case .show(let index): if case .there(let frame) = pool.use(index) { show(frame, index) }
            case .loop(let count): animationLoopHandler?(count)
            case .stop: stopPlaying()
            }
        }
        if isPlaying { requestFrames() }
    }

    private func show(_ frame: Image, _ index: Int) {
        currentFrame = frame
        animationFrameHandler?(index, frame)
    }

    private func startDisplayLink() {
        displayLink?.start { [weak self] seconds in self?.update(at: seconds) }
    }

    // MARK: Memory

    /// Frames that are decoded before they are needed, as far as the budget allows: enough for one that takes long.
    private static let readAhead = 4

    private func requestFrames(first: Image? = nil) {
        let limit = frameLimit ?? makeFrameLimit()
        pool.wish(id, for: playback.upcoming(min(limit, Self.readAhead)), capacity: limit, first: first)
    }

    private func makeFrameLimit() -> Int {
        let known = currentFrame ?? (provider as? AnimatedImage)?.image
        let limit = AnimationBudget.frameCount(maxBufferSize, frameByteCount: known?.pixelByteCount, memory: memory)
        // Until a frame is known the size is a guess.
        if known != nil { frameLimit = limit }
        return limit
    }
}

/// How many frames may be in memory.
enum AnimationBudget {
    /// - Parameters:
    ///   - limit: bytes; 0 to go by the memory that there is.
    ///   - frameByteCount: bytes of one frame; nil before one is known, and then few are allowed.
    static func frameCount(_ limit: Int, frameByteCount: Int?, memory: SystemMemory) -> Int {
        guard let frameByteCount, frameByteCount > 0 else { return 1 }
        return max((limit > 0 ? limit : automatic(memory)) / frameByteCount, 1)
    }

    private static func automatic(_ memory: SystemMemory) -> Int {
        let shares = [memory.usableBytes.map { $0 / 5 }, memory.availableBytes.map { $0 / 5 * 3 }]
        // 64 MiB where nothing is known.
        return shares.compactMap(\.self).min() ?? 64 << 20
    }
}
