import CWebImageGTK4
import WebImage

/// Plays the animated image of a view while the view is on the screen.
@MainActor
final class AnimationController: ViewFeature {
    /// The image that the view shows.
    private(set) var image: Image?
    private(set) var player: AnimatedImagePlayer?
    var settings = AnimationSettings() { didSet { applySettings(instead: oldValue) } }
    /// The visible frame; nil before the first one.
    private(set) var currentFrame: Image?
    private(set) var currentFrameIndex = 0
    private(set) var currentLoopCount = 0
    var frameHandler: ((_ index: Int, _ frame: Image) -> Void)?
    var loopHandler: ((_ loopCount: Int) -> Void)?

    /// True if the next content is the same animation, which then continues instead of starting again.
    var continues = false
    /// The number of the load that brought the content.
    var loadNumber: Int?

    private weak var state: ViewState?
    private let view: WeakObject
    private var link: FrameClockLink?
    /// True if the animation is to play while it is visible.
    private var wantsToPlay = false
    /// True after all loops have been played.
    private var isFinished = false
    /// True if all received frames have been played and more are to arrive.
    private var isShort = false
    /// A version of the image with more frames, used when playback reaches the last received frame.
    private var successor: Image?

    init(_ state: ViewState) {
        self.state = state
        view = WeakObject(state.view)
        Signal("map", of: state.view) { [weak self] in self?.update() }
        Signal("unmap", of: state.view) { [weak self] in self?.update() }
    }

    func viewWillGo() {
        dropPlayer()
        image = nil
        (frameHandler, loopHandler) = (nil, nil)
    }

    // MARK: Content

    /// Called when the view shows other content, or a transition has ended.
    func contentChanged() {
        let next = state?.paintable.content?.image
        if next !== image {
            take(next)
        } else if player != nil {
            // The same image was set again and starts with its poster.
            if currentFrame == nil, settings.transformer != nil {
                state?.paintable.frame = .awaited
            } else {
                keepFrame()
            }
        }
        update()
    }

    private func take(_ next: Image?) {
        let former = image
        image = next
        guard continues, let next, let player, settings.plays(next) else { return begin() }
        keepFrame()
        if next.metadata.isIncremental, former?.metadata.isIncremental == true, player.isPlaying, !isShort {
            successor = next
        } else {
            goOn(with: next)
        }
    }

    /// Keeps the visible frame, although the content has changed.
    private func keepFrame() {
        guard let currentFrame, let texture = Texture.of(currentFrame) else { return }
        state?.paintable.frame = .texture(texture)
    }

    private func begin() {
        dropPlayer()
        (currentFrame, currentFrameIndex, currentLoopCount) = (nil, 0, 0)
        loadNumber = nil
        guard let image, settings.plays(image) else { return playerChanged() }
        wantsToPlay = settings.autoPlay
        player = makePlayer(of: image)
        if player != nil, settings.transformer != nil {
            // The untransformed poster must not be shown.
            state?.paintable.frame = .awaited
            player?.beginSeeking(toFrameAt: 0, loopCount: 0)
        }
        playerChanged()
    }

    /// Plays an image from the current position of another one.
    private func goOn(with next: Image) {
        let (index, loops, isShown) = (currentFrameIndex, currentLoopCount, currentFrame != nil)
        let (wanted, finished) = (wantsToPlay, isFinished)
        dropPlayer()
        (wantsToPlay, isFinished) = (wanted, finished)
        player = makePlayer(of: next)
        if let player, isShown || settings.transformer != nil {
            player.beginSeeking(toFrameAt: min(index, player.totalFrameCount - 1), loopCount: loops)
        }
        playerChanged()
    }

    private func playerChanged() { state?.highlight?.update() }

    private func dropPlayer() {
        player?.animationFrameHandler = nil
        player?.animationLoopHandler = nil
        player = nil
        link?.stop()
        link = nil
        successor = nil
        (wantsToPlay, isFinished, isShort) = (false, false, false)
    }

    private func makePlayer(of image: Image) -> AnimatedImagePlayer? {
        guard let state, let animation = image.animation else { return nil }
        let provider = settings.transformer.map { TransformedAnimations.animation(of: animation, by: $0) } ?? animation
        guard let player = AnimatedImagePlayer(provider: provider) else { return nil }
        settings.apply(to: player)
        player.animationFrameHandler = { [weak self] in self?.show($1, $0) }
        player.animationLoopHandler = { [weak self] in self?.noteLoop($0) }
        let link = FrameClockLink(state.clock)
        link.timeUntilNextFrame = { [weak player] in player?.timeUntilNextFrame ?? 0 }
        player.displayLink = link
        self.link = link
        return player
    }

    // MARK: Playing

    /// True if the view is on the screen and no transition is running.
    private var isSeen: Bool {
        guard let pointer = view.pointer, gtk_widget_get_mapped(pointer.widget) != 0 else { return false }
        return state?.paintable.transitionProgress == nil
    }

    private func update() {
        guard let player else { return }
        if wantsToPlay, isSeen, !isShort {
            player.startPlaying()
        } else if player.isPlaying {
            halt(player)
        }
    }

    private func halt(_ player: AnimatedImagePlayer) {
        if !isSeen { player.dropFramesOfThePast() }
        settings.resetFrameIndexWhenStopped ? player.stopPlaying() : player.pausePlaying()
        if settings.clearBufferWhenStopped { player.clearFrameBuffer() }
    }

    func startAnimating() {
        guard let player else { return }
        // All loops were played: start from the beginning.
        if isFinished { player.stopPlaying() }
        (wantsToPlay, isFinished) = (true, false)
        update()
    }

    func stopAnimating() {
        wantsToPlay = false
        guard let player else { return }
        halt(player)
    }

    func seek(toFrameAt index: Int, loopCount: Int) {
        guard let player, (0..<player.totalFrameCount).contains(index) else { return }
        isFinished = false
        player.beginSeeking(toFrameAt: index, loopCount: loopCount)
        currentLoopCount = player.currentLoopCount
        link?.wake()
    }

    private func show(_ frame: Image, _ index: Int) {
        currentFrameIndex = index
        if frame !== currentFrame {
            currentFrame = frame
            if let texture = Texture.of(frame) { state?.paintable.frame = .texture(texture) }
        } else if case .awaited = state?.paintable.frame {
            keepFrame()
        }
        frameHandler?(index, frame)
    }

    private func noteLoop(_ count: Int) {
        guard let player else { return }
        if image?.metadata.isIncremental == true || successor != nil { return waitForMore(player) }
        currentLoopCount = count
        if player.totalLoopCount > 0, count >= player.totalLoopCount {
            (wantsToPlay, isFinished) = (false, true)
            player.stopPlaying()
            player.dropFramesOfThePast()
        }
        loopHandler?(count)
    }

    /// Handles the end of the received frames: switches to the image with more frames, or waits for it.
    private func waitForMore(_ player: AnimatedImagePlayer) {
        if let next = successor {
            goOn(with: next)
            update()
        } else {
            isShort = true
            player.beginSeeking(toFrameAt: player.totalFrameCount - 1, loopCount: 0)
            player.pausePlaying()
        }
    }

    // MARK: Settings

    private func applySettings(instead former: AnimationSettings) {
        if settings.transformer?.transformerKey != former.transformer?.transformerKey {
            if player == nil { begin() } else { image.map(goOn) }
        } else if let player {
            settings.apply(to: player)
        } else if image.map(settings.plays) == true {
            begin()
        }
        update()
        link?.wake()
    }
}
