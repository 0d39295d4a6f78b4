/// Waits before something is shown, so that what is over soon never shows it.
@MainActor
final class IndicatorDelay {
    /// Calls back after some seconds, unless the closure it returns has been called before.
    typealias Later = @MainActor (_ seconds: Double, _ body: @escaping @MainActor () -> Void) -> Cancel
    typealias Cancel = @MainActor () -> Void

    /// The seconds of indicators that are told nothing else.
    nonisolated static let usual = 0.15

    /// Seconds; not finite or not more than 0 for none.
    var seconds: Double
    /// What it waits with.
    var later: Later = { seconds, body in
        let timer = MainTimer(after: seconds, body)
        return { timer.cancel() }
    }
    private var cancelWaiting: Cancel?

    init(_ seconds: Double) { self.seconds = seconds }

    /// Begins to wait, unless it does already.
    func begin(_ body: @escaping @MainActor () -> Void) {
        guard cancelWaiting == nil else { return }
        guard seconds > 0, seconds.isFinite else { return body() }
        cancelWaiting = later(seconds) { [weak self] in
            self?.cancelWaiting = nil
            body()
        }
    }

    /// Gives it up.
    func cancel() {
        cancelWaiting?()
        cancelWaiting = nil
    }
}
