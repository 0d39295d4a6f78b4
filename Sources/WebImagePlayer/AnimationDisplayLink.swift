/// A source of ticks, such as a widget's frame clock or a timer, called before the screen is drawn.
public protocol AnimationDisplayLink: AnyObject {
    /// Starts calling `tick`, on the player's thread, each time before the screen is drawn.
    ///
    /// - Parameter tick: Takes the time in seconds since any fixed moment; it never decreases.
    func start(_ tick: @escaping (_ seconds: Double) -> Void)

    /// Stops the calls. May be called within one, and when stopped already.
    func stop()
}
