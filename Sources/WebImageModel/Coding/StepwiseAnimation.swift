/// An animation whose frames can be made in steps, so that a slow frame does not occupy a thread for long and can be cancelled; and
/// which knows its underlying decoder, so that animations that share one take turns.
package protocol StepwiseAnimation: AnimatedImageProvider {
    /// The animation that decodes: this one, or the one that it wraps.
    var decoder: any AnimatedImageProvider { get }

    /// Works on a frame: at least one step, and then as long as `goesOn` returns true, which is called after each step.
    ///
    /// - Returns: nil if it stopped before the frame was complete. The work done so far is reused if the same frame is requested
    ///   again soon.
    /// - Throws: what ``AnimatedImageProvider/frame(at:)`` throws.
    func frame(at index: Int, while goesOn: () -> Bool) throws(WebImageError) -> Image?

    /// Registers a player. While any player is registered, ``AnimatedImageProvider/releaseDecoder()`` keeps the state that the next
    /// frame needs. Does not block.
    func beginPlaying()

    /// Unregisters a player.
    func endPlaying()
}

extension AnimatedImageProvider {
    /// The animation that decodes the frames.
    package var frameDecoder: any AnimatedImageProvider { (self as? any StepwiseAnimation)?.decoder ?? self }

    /// Works on a frame, in steps if the animation can.
    package func partOfFrame(at index: Int, while goesOn: () -> Bool) throws(WebImageError) -> Image? {
        guard let gradual = self as? any StepwiseAnimation else { return try frame(at: index) }
        return try gradual.frame(at: index, while: goesOn)
    }
}
