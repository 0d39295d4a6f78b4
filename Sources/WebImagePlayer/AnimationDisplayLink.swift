/// What tells a player that the screen is about to be drawn: a widget's frame clock, or a timer.
public protocol AnimationDisplayLink: AnyObject {
    /// Begins to call `tick`, on the thread that the player is used on, each time before the screen is drawn.
    ///
    /// - Parameter tick: takes the time of the reading, in seconds since any moment; readings never go back.
    func start(_ tick: @escaping (_ seconds: Double) -> Void)

    /// Ends the calls. May be called within one, and when none are made.
    func stop()
}
