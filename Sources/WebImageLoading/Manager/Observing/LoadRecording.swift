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
/// It keeps all events until it is released: do not leave one on a manager for long.
public final class LoadRecording: WebImageLoadObserver {
    private let list = Lock<[WebImageLoadEvent]>([])

    /// Creates an empty recording.
    public init() {}

    /// All events so far, in order of arrival; those of concurrent loads are interleaved.
    public var events: [WebImageLoadEvent] { list.withLock { $0 } }

    /// An explanation of what happened and why: one paragraph per line for each load, in the order in which the loads started.
    /// Paragraphs of unfinished loads say so.
    public var explanation: String {
        let events = events
        let loads = Dictionary(grouping: events, by: \.loadID)
        var seen: Set<UInt64> = []
        let order = events.map(\.loadID).filter { seen.insert($0).inserted }
        return order.compactMap { loads[$0].map(LoadExplanation.text) }.joined(separator: "\n")
    }

    /// Records the event.
    public func loadDid(_ event: WebImageLoadEvent) { list.withLock { $0.append(event) } }
}
