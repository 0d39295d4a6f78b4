/// An animation whose frames can be made in parts, so that a frame that takes long holds no thread for long and can be given up; and
/// which knows whose decoder it uses, so that those who share one take turns.
package protocol GradualAnimation: AnimatedImageProvider {
    /// The animation that decodes: this one, or the one that its frames are made of.
    var decoder: any AnimatedImageProvider { get }

    /// Works on a frame: one part at least, and then as long as `goesOn` says so, which is asked after each part.
    ///
    /// - Returns: nil when it ended before the frame was there. What was done until then is not lost if the same frame is asked for
    ///   again soon.
    /// - Throws: what ``AnimatedImageProvider/frame(at:)`` throws.
    func frame(at index: Int, while goesOn: () -> Bool) throws(WebImageError) -> Image?

    /// Someone begins to play it. Until as many have ended, ``AnimatedImageProvider/releaseDecoder()`` leaves what the next frame is
    /// made of. Waits for nothing.
    func beginPlaying()

    /// Someone has ended playing it.
    func endPlaying()
}

extension AnimatedImageProvider {
    /// Who decodes the frames.
    package var frameDecoder: any AnimatedImageProvider { (self as? any GradualAnimation)?.decoder ?? self }

    /// Works on a frame, in parts if the animation can.
    package func partOfFrame(at index: Int, while goesOn: () -> Bool) throws(WebImageError) -> Image? {
        guard let gradual = self as? any GradualAnimation else { return try frame(at: index) }
        return try gradual.frame(at: index, while: goesOn)
    }
}
