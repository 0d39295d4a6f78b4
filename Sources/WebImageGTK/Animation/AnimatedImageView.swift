public import WebImage

/// How a view plays animations: a handle to a `GtkPicture` or `GtkImage`, of which there may be any number.
///
/// No handle is needed for a picture that moves to move: it plays as soon as it is set, in step with the frames that GTK draws, as long as
/// the view is on the screen, and goes on when that is so again. Views that show the same image share its frames. Each has a place of its
/// own in the animation.
///
/// What is set here holds for the picture that is shown, and for those that come later. Once the view has been destroyed, setting does
/// nothing, and everything has its default. For the main thread.
@MainActor
public final class AnimatedImageView {
    private let view: WeakObject

    /// A handle to a view. Does not keep it.
    ///
    /// - Parameter view: whatever pointer there is to it.
    /// - Precondition: the object is a `GtkWidget`. One that is neither `GtkPicture` nor `GtkImage` plays nothing.
    public init(_ view: any GObjectPointer) {
        self.view = WeakObject(view.gobjectPointer)
        _ = ViewState.of(view.gobjectPointer).makeAnimation()
    }

    private var part: AnimationPart? { view.pointer.flatMap { ViewState.existing($0) }?.animation }

    private subscript<Value>(_ path: WritableKeyPath<AnimationSettings, Value>) -> Value {
        get { (part?.settings ?? AnimationSettings())[keyPath: path] }
        set { part?.settings[keyPath: path] = newValue }
    }

    // MARK: What is shown

    /// What plays; nil if the view shows nothing that moves. Another one with each picture.
    ///
    /// Its handlers and its display link belong to the view: to be told of frames there are ``animationFrameHandler`` and
    /// ``animationLoopHandler``.
    public var player: AnimatedImagePlayer? { part?.player }
    /// The frame that is seen; nil before the first one. It stays after the end.
    public var currentFrame: Image? { part?.currentFrame }
    /// The number of the frame that is seen; 0 before the first one.
    public var currentFrameIndex: Int { part?.currentFrameIndex ?? 0 }
    /// Loops that have been played. It stays after the end.
    public var currentLoopCount: Int { part?.currentLoopCount ?? 0 }
    /// Whether it plays now: not while the view is off the screen, nor before a transition to the picture is over.
    public var isAnimating: Bool { part?.player?.isPlaying ?? false }

    /// Called with each frame when it is shown, and its number.
    public var animationFrameHandler: ((_ index: Int, _ frame: Image) -> Void)? {
        get { part?.frameHandler }
        set { part?.frameHandler = newValue }
    }
    /// Called with the number of loops played, at the end of each.
    public var animationLoopHandler: ((_ loopCount: Int) -> Void)? {
        get { part?.loopHandler }
        set { part?.loopHandler = newValue }
    }

    // MARK: Control

    /// Plays, or goes on where it was stopped; from the beginning when all loops have been played. While the view is off the screen it
    /// begins as soon as that ends.
    public func startAnimating() { part?.startAnimating() }

    /// Stops, until ``startAnimating()`` or another picture; being off the screen in between changes nothing. The frame that is seen stays.
    /// See ``resetFrameIndexWhenStopped`` and ``clearBufferWhenStopped``.
    public func stopAnimating() { part?.stopAnimating() }

    /// Goes to a frame, whether it plays or not. Shown as soon as it has been decoded, on the library's threads; this never waits. Nothing
    /// happens if there is no such frame.
    ///
    /// - Parameters:
    ///   - index: of the frame.
    ///   - loopCount: loops that count as played; 0 by default.
    public func seek(toFrameAt index: Int, loopCount: Int = 0) { part?.seek(toFrameAt: index, loopCount: loopCount) }

    // MARK: Settings

    /// Whether pictures play as soon as they are set; true by default. Otherwise ``startAnimating()`` begins.
    public var autoPlayAnimatedImage: Bool {
        get { self[\.autoPlay] }
        set { self[\.autoPlay] = newValue }
    }
    /// Whether ``animationRepeatCount`` says how often to play, and not the picture; false by default.
    public var shouldCustomLoopCount: Bool {
        get { self[\.shouldCustomLoopCount] }
        set { self[\.shouldCustomLoopCount] = newValue }
    }
    /// How often to play with ``shouldCustomLoopCount``; 0, the default, is for ever. Less than 0 counts as 0.
    public var animationRepeatCount: Int {
        get { self[\.repeatCount] }
        set { self[\.repeatCount] = max(newValue, 0) }
    }
    /// How fast to play; 1, the default, is as the picture says, 2 is twice as fast. 0 and less stop it, at the beginning; not finite
    /// counts as 1.
    public var playbackRate: Double {
        get { self[\.playbackRate] }
        set { self[\.playbackRate] = newValue.isFinite ? newValue : 1 }
    }
    /// In which order; ``AnimationPlaybackMode/normal`` by default.
    public var playbackMode: AnimationPlaybackMode {
        get { self[\.playbackMode] }
        set { self[\.playbackMode] = newValue }
    }
    /// Most bytes of decoded frames in memory, as ``AnimatedImagePlayer/maxBufferSize``; 0, the default, goes by the memory there is. Of a
    /// picture that no view on the screen plays, only the next frames stay in any case.
    public var maxBufferSize: Int {
        get { self[\.maxBufferSize] }
        set { self[\.maxBufferSize] = max(newValue, 0) }
    }
    /// Whether a picture that is still arriving plays as far as it has come, if its format tells frames before the end (GIF does); true by
    /// default. At the end of what has come it waits for more, and when all is there it goes on from where it is. Modes other than
    /// ``AnimationPlaybackMode/normal`` wait for the whole picture.
    public var shouldIncrementalLoad: Bool {
        get { self[\.shouldIncrementalLoad] }
        set { self[\.shouldIncrementalLoad] = newValue }
    }
    /// Whether decoded frames are let go of when it stops or is off the screen; false by default.
    public var clearBufferWhenStopped: Bool {
        get { self[\.clearBufferWhenStopped] }
        set { self[\.clearBufferWhenStopped] = newValue }
    }
    /// Whether it begins at the first frame again after it stopped or was off the screen; false by default.
    public var resetFrameIndexWhenStopped: Bool {
        get { self[\.resetFrameIndexWhenStopped] }
        set { self[\.resetFrameIndexWhenStopped] = newValue }
    }
    /// Transforms each frame when it is decoded, on the library's threads; nil, the default, for nothing. The view shows nothing of the
    /// picture until its first frame has been transformed; a transition, if there is one, shows it as it is. Views whose transformers
    /// have the same ``ImageTransformer/transformerKey`` share frames.
    public var animationTransformer: (any ImageTransformer)? {
        get { self[\.transformer] }
        set { self[\.transformer] = newValue }
    }
}
