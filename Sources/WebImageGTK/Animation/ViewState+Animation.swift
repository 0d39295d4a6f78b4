import WebImage

extension ViewState {
    private static let animationKey = "animation"

    /// What plays; nil as long as nothing of the view moved, and nobody asked how it would.
    var animation: AnimationPart? { parts[Self.animationKey] as? AnimationPart }

    /// What plays.
    func makeAnimation() -> AnimationPart {
        if let animation { return animation }
        let part = AnimationPart(self)
        parts[Self.animationKey] = part
        part.contentChanged()
        return part
    }

    /// The paintable has other content, or a transition to it is over.
    func contentChanged() {
        if let animation {
            animation.contentChanged()
        } else if !isEnded, paintable.content?.image?.animation != nil {
            _ = makeAnimation()
        }
    }

    /// Shows what a load brought; if that is the animation that plays, only more of it or with more pixels, then it goes on.
    ///
    /// - Parameter isLedTo: a transition leads there: then it begins with its first frame.
    func continuingAnimation(of load: ViewLoad, isLedTo: Bool = false, show: () -> Void) {
        guard load.showsInPaintable else { return show() }
        let part = animation
        part?.continues =
            !isLedTo && part?.loadNumber == load.number
            && (load.request.isUpgrade || part?.image?.metadata.isIncremental == true)
        show()
        part?.continues = false
        // Whoever was told of it may have begun another.
        if isLatest(load) { animation?.loadNumber = load.number }
    }
}
