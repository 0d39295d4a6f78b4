/// Hears of everything that happens in loads.
public protocol WebImageLoadObserver: AnyObject, Sendable {
    /// Called for each event, in order for each load, one at a time for each load, on any thread; must be quick.
    func loadDid(_ event: WebImageLoadEvent)
}
