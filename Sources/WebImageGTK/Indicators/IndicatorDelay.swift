/// Delays showing an indicator, so that short loads never show one.
@MainActor
final class IndicatorDelay {
    /// Calls `body` after some seconds, unless the returned closure was called before.
    typealias Later = @MainActor (_ seconds: Double, _ body: @escaping @MainActor () -> Void) -> Cancel
    typealias Cancel = @MainActor () -> Void

    /// The default delay of indicators in seconds.
    nonisolated static let usual = 0.15

    /// The delay in seconds; none if not finite, 0 or negative.
    var seconds: Double
    /// The timer; replaced in tests.
    var later: Later = { seconds, body in
        let timer = MainTimer(after: seconds, body)
        return { timer.cancel() }
    }
    private var cancelWaiting: Cancel?

    init(_ seconds: Double) { self.seconds = seconds }

    /// Starts waiting, unless it is waiting already.
    func begin(_ body: @escaping @MainActor () -> Void) {
        guard cancelWaiting == nil else { return }
        guard seconds > 0, seconds.isFinite else { return body() }
        cancelWaiting = later(seconds) { [weak self] in
            self?.cancelWaiting = nil
            body()
        }
    }

    /// Cancels the wait.
    func cancel() {
        cancelWaiting?()
        cancelWaiting = nil
    }
}
