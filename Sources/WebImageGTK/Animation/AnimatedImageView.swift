public import WebImage

/// Controls how a view plays animations: a handle to a `GtkPicture` or `GtkImage`. A view can have any number of handles.
///
/// Animated images play without a handle: playback starts as soon as the image is set, in step with the frames that GTK draws, while the
/// view is on the screen, and resumes when it is on the screen again. Views that show the same image share its decoded frames; each has its
/// own position in the animation.
///
/// The settings apply to the current image and to later ones. After the view has been destroyed, setters do nothing and getters return the
/// defaults. For the main thread.
@MainActor
public final class AnimatedImageView {
    private let view: WeakObject

    /// Creates a handle to a view. It holds only a weak reference.
    ///
    /// - Parameter view: any pointer to it.
    /// - Precondition: the object is a `GtkWidget`. One that is neither `GtkPicture` nor `GtkImage` plays nothing.
    public init(_ view: any GObjectPointer) {
        self.view = WeakObject(view.gobjectPointer)
        _ = ViewState.of(view.gobjectPointer).makeAnimation()
    }

    private var part: AnimationController? { view.pointer.flatMap { ViewState.existing($0) }?.animation }

    private subscript<Value>(_ path: WritableKeyPath<AnimationSettings, Value>) -> Value {
        get { (part?.settings ?? AnimationSettings())[keyPath: path] }
        set { part?.settings[keyPath: path] = newValue }
    }

    // MARK: State

    /// The player of the current animation; nil if the view shows none. Each image has a new player.
    ///
    /// Its handlers and its display link belong to the view. To observe frames, use ``animationFrameHandler`` and ``animationLoopHandler``.
    public var player: AnimatedImagePlayer? { part?.player }
    /// The visible frame; nil before the first one. Stays after the end of the animation.
    public var currentFrame: Image? { part?.currentFrame }
    /// The index of the visible frame; 0 before the first one.
    public var currentFrameIndex: Int { part?.currentFrameIndex ?? 0 }
    /// The number of loops played. Stays after the end of the animation.
    public var currentLoopCount: Int { part?.currentLoopCount ?? 0 }
    /// A Boolean value that indicates whether the animation is playing now; false while the view is off the screen and until a transition
    /// to the image has ended.
    public var isAnimating: Bool { part?.player?.isPlaying ?? false }

    /// Called with the index and the image of each frame when it is shown.
    public var animationFrameHandler: ((_ index: Int, _ frame: Image) -> Void)? {
        get { part?.frameHandler }
        set { part?.frameHandler = newValue }
    }
    /// Called at the end of each loop with the number of loops played.
    public var animationLoopHandler: ((_ loopCount: Int) -> Void)? {
        get { part?.loopHandler }
        set { part?.loopHandler = newValue }
    }

    // MARK: Control

    /// Starts or resumes playback, from the beginning if all loops have been played. While the view is off the screen, playback starts as
    /// soon as it is on the screen again.
    public func startAnimating() { part?.startAnimating() }

    /// Stops playback until ``startAnimating()`` is called or another image is set, also if the view leaves the screen in between. The
    /// visible frame stays. See ``resetFrameIndexWhenStopped`` and ``clearBufferWhenStopped``.
    public func stopAnimating() { part?.stopAnimating() }

    /// Seeks to a frame, whether or not the animation is playing. Never blocks: the frame is decoded on the library's threads and then
    /// shown. An index out of range is ignored.
    ///
    /// - Parameters:
    ///   - index: the index of the frame.
    ///   - loopCount: the number of loops that count as played; 0 by default.
    public func seek(toFrameAt index: Int, loopCount: Int = 0) { part?.seek(toFrameAt: index, loopCount: loopCount) }

    // MARK: Settings

    /// A Boolean value that determines whether images play as soon as they are set; true by default. If false, playback starts with
    /// ``startAnimating()``.
    public var autoPlayAnimatedImage: Bool {
        get { self[\.autoPlay] }
        set { self[\.autoPlay] = newValue }
    }
    /// A Boolean value that determines whether ``animationRepeatCount`` overrides the image's own loop count; false by default.
    public var shouldCustomLoopCount: Bool {
        get { self[\.shouldCustomLoopCount] }
        set { self[\.shouldCustomLoopCount] = newValue }
    }
    /// The number of loops to play if ``shouldCustomLoopCount`` is true; 0, the default, loops forever. Negative values count as 0.
    public var animationRepeatCount: Int {
        get { self[\.repeatCount] }
        set { self[\.repeatCount] = max(newValue, 0) }
    }
    /// The playback speed; 1, the default, is the image's own speed, 2 is twice as fast. 0 and negative values stop playback at the
    /// beginning; values that are not finite count as 1.
    public var playbackRate: Double {
        get { self[\.playbackRate] }
        set { self[\.playbackRate] = newValue.isFinite ? newValue : 1 }
    }
    /// The order in which frames play; ``AnimationPlaybackMode/normal`` by default.
    public var playbackMode: AnimationPlaybackMode {
        get { self[\.playbackMode] }
        set { self[\.playbackMode] = newValue }
    }
    /// The memory limit for decoded frames in bytes, as in ``AnimatedImagePlayer/maxBufferSize``; 0, the default, depends on the available
    /// memory. An image that no view on the screen plays keeps only its next frames, whatever the limit.
    public var maxBufferSize: Int {
        get { self[\.maxBufferSize] }
        set { self[\.maxBufferSize] = max(newValue, 0) }
    }
    /// A Boolean value that determines whether a partially loaded image plays the frames received so far, if its format describes frames
    /// before the end of the file (GIF does); true by default. After the last received frame, playback waits for more; when the image is
    /// complete, it continues from its current position. Modes other than ``AnimationPlaybackMode/normal`` wait for the complete image.
    public var shouldIncrementalLoad: Bool {
        get { self[\.shouldIncrementalLoad] }
        set { self[\.shouldIncrementalLoad] = newValue }
    }
    /// A Boolean value that determines whether decoded frames are released when playback stops or the view leaves the screen; false by
    /// default.
    public var clearBufferWhenStopped: Bool {
        get { self[\.clearBufferWhenStopped] }
        set { self[\.clearBufferWhenStopped] = newValue }
    }
    /// A Boolean value that determines whether playback restarts at the first frame after it was stopped or the view was off the screen;
    /// false by default.
    public var resetFrameIndexWhenStopped: Bool {
        get { self[\.resetFrameIndexWhenStopped] }
        set { self[\.resetFrameIndexWhenStopped] = newValue }
    }
    /// Transforms each frame when it is decoded, on the library's threads; nil, the default, means no transformation. The view stays empty
    /// until the image's first frame has been transformed; a transition shows the untransformed image. Views whose transformers have the
    /// same ``ImageTransformer/transformerKey`` share frames.
    public var animationTransformer: (any ImageTransformer)? {
        get { self[\.transformer] }
        set { self[\.transformer] = newValue }
    }
}
