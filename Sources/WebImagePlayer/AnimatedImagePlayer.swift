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
    /// Most bytes of frames in memory, for all players of the animation together: the largest number of those that play, or of all
    /// when none plays. Whatever it says, each player that plays holds the frame that is shown and the next one.
    /// 0, the default, is a fifth of the memory that the process may use, or three fifths of what is free if that is less. With 1
    /// no frame is kept for later; `Int.max` keeps all frames.
    public var maxBufferSize = 0 { didSet { (byteLimit, requested) = (nil, nil) } }
    /// Called with each frame when it is to be shown.
    public var animationFrameHandler: ((_ index: Int, _ frame: Image) -> Void)?
    /// Called with the number of loops played, when frame 0 becomes the next one.
    public var animationLoopHandler: ((_ loopCount: Int) -> Void)?
    /// Whether it plays.
    public private(set) var isPlaying = false
    /// Whether the frame of ``beginSeeking(toFrameAt:loopCount:)`` is still to be shown.
    public private(set) var isSeeking = false
    /// What tells the time; nil when ``update(at:)`` is called instead.
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
    /// What ``maxBufferSize`` comes to; nil when it has to be found out.
    private var byteLimit: Int?
    /// What the pool was asked for last; nil when it has to be asked anew.
    private var requested: Request?

    /// What decides which frames are needed next.
    private struct Request: Equatable {
        let index: Int
        let isPending: Bool
        let frameCount: Int
        let mode: AnimationPlaybackMode
    }

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
        updateDisplayLink()
    }

    /// Stays where it is. Frames stay in memory as far as ``maxBufferSize`` lets them, and as no other player of the animation needs the
    /// room; none is decoded ahead.
    public func pausePlaying() {
        guard isPlaying else { return }
        isPlaying = false
        if isSeeking { requestFrames() } else { withdraw() }
        updateDisplayLink()
    }

    /// Lets go of the frames that are not needed next, unless another player of the animation plays: for one that is going to be paused
    /// because nobody sees it. What stays lets it go on without decoding what came before.
    package func dropFramesOfThePast() { pool.dropUnneeded(by: id) }

    /// Ends, and goes back to the beginning without calling a handler. Frames stay in memory as they do in a pause.
    public func stopPlaying() {
        endSeeking()
        pausePlaying()
        playback.reset()
        currentFrame = nil
        lastReading = nil
    }

    /// Shows a frame now, and decodes it on this thread if it is not in memory. Nothing happens if it does not exist.
    ///
    /// Cost: in an animation whose frames are drawn over each other, a jump decodes all frames since the nearest one that hides what
    /// was before it, or since one that is still known from a jump before. That may be all of them, and it waits for a frame
    /// that is being decoded for another player as well. A user interface calls ``beginSeeking(toFrameAt:loopCount:)``.
    ///
    /// - Parameters:
    ///   - index: of the frame.
    ///   - loopCount: loops that count as played.
    /// - Throws: what the provider throws for the frame.
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

    /// Goes to a frame, and shows it as soon as it is there: now if it is in memory, otherwise by the first ``update(at:)`` after it has
    /// been decoded on the library's threads. Nothing happens if it does not exist.
    ///
    /// This never waits, so it can follow a slider: what has not been decoded for one call is given up with the next. It works for a
    /// player that does not play as well; its display link runs until the frame is shown, or, without one, ``update(at:)`` has to be
    /// called as long as ``isSeeking``. For a frame that cannot be decoded the one before it stays.
    ///
    /// - Parameters:
    ///   - index: of the frame. It is ``currentFrameIndex`` at once.
    ///   - loopCount: loops that count as played.
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

    /// Drops the frames that are in memory, for all players of the animation, but for the next ones of those that play, which can
    /// only be had again by drawing what comes before them. Those that could not be decoded are tried again.
    public func clearFrameBuffer() { pool.removeAll() }

    // MARK: Time

    /// Goes on to a reading of the clock, in seconds since any moment. The first one after a start counts as the start, and one that
    /// lies before the last counts for nothing.
    public func update(at seconds: Double) {
        guard isPlaying, seconds.isFinite else { return showAwaited() }
        let elapsed = seconds - (lastReading ?? seconds)
        lastReading = seconds
        advance(by: elapsed)
    }

    /// Seconds until the next frame can be due; 0 when one is awaited, as after ``beginSeeking(toFrameAt:loopCount:)``. For whoever sleeps
    /// between frames.
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

    /// Shows the frame that was sought while nothing plays, if it has come.
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

    /// Frames that are decoded before they are needed, as far as the budget allows: enough for one that takes long.
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
