/// An observer that keeps all events, of one load or of many, and explains them.
///
/// ```swift
/// let recording = LoadRecording()
/// var context = WebImageContext()
/// context.observer = recording
/// _ = try await WebImageManager.shared.image(with: url, context: context)
/// print(recording.explanation)
/// ```
///
/// It keeps everything until it goes: do not leave one at a manager for long.
public final class LoadRecording: WebImageLoadObserver {
    private let list = Lock<[WebImageLoadEvent]>([])

    /// A recording with nothing in it.
    public init() {}

    /// All events so far, in the order they came; those of loads that run at the same time are mixed.
    public var events: [WebImageLoadEvent] { list.withLock { $0 } }

    /// What happened and why, a paragraph on a line of its own for each load, in the order the loads began. Paragraphs of loads
    /// that have not ended say so.
    public var explanation: String {
        let events = events
        let loads = Dictionary(grouping: events, by: \.loadID)
        var seen: Set<UInt64> = []
        let order = events.map(\.loadID).filter { seen.insert($0).inserted }
        return order.compactMap { loads[$0].map(LoadExplanation.text) }.joined(separator: "\n")
    }

    /// Keeps the event.
    public func loadDid(_ event: WebImageLoadEvent) { list.withLock { $0.append(event) } }
}
