import WebImage

extension ViewState {
    private static let animationKey = "animation"

    /// The controller that plays the view's animations; nil until the view shows one or an ``AnimatedImageView`` is created.
    var animation: AnimationController? { parts[Self.animationKey] as? AnimationController }

    /// Returns the view's controller, created if needed.
    func makeAnimation() -> AnimationController {
        if let animation { return animation }
        let part = AnimationController(self)
        parts[Self.animationKey] = part
        part.contentChanged()
        return part
    }

    /// Called when the paintable has other content, or a transition has ended.
    func contentChanged() {
        zoom?.contentChanged()
        if let animation {
            animation.contentChanged()
        } else if !isEnded, paintable.content?.image?.animation != nil {
            _ = makeAnimation()
        }
    }

    /// Shows the image of a load. If it is the animation that is playing, with more frames or more pixels, playback continues.
    ///
    /// - Parameter isLedTo: true if a transition leads to the image, which then plays from its first frame.
    func continuingAnimation(of load: ViewLoad, isLedTo: Bool = false, show: () -> Void) {
        guard load.showsInPaintable else { return show() }
        let part = animation
        part?.continues =
            !isLedTo && part?.loadNumber == load.number
            && (load.request.isUpgrade || part?.image?.metadata.isIncremental == true)
        show()
        part?.continues = false
        // The callbacks of `show` may have started another load.
        if isLatest(load) { animation?.loadNumber = load.number }
    }
}
