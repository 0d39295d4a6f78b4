import CWebImageGTK4
import FoundationEssentials
import Testing
import WebImage

@testable import WebImageGTK

/// Time that passes when the test says so.
@MainActor
final class HeldTime {
    private var waiting: [(id: Int, seconds: Double, body: @MainActor () -> Void)] = []
    private var lastID = 0
    private var now = 0.0

    /// The delays of indicators.
    var later: IndicatorDelay.Later {
        { [self] seconds, body in
            lastID += 1
            let id = lastID
            waiting.append((id, now + seconds, body))
            return { self.waiting.removeAll { $0.id == id } }
        }
    }

    /// The number of waiting ones.
    var count: Int { waiting.count }

    func pass(_ seconds: Double) {
        now += seconds
        let due = waiting.filter { $0.seconds <= now }
        waiting.removeAll { $0.seconds <= now }
        for wait in due { wait.body() }
    }
}

/// An indicator that records its calls.
@MainActor
final class RecordingIndicator: WebImageIndicator {
    var events: [String] = []

    func startAnimating(in view: UnsafeMutableRawPointer) { events.append("start") }
    func updateProgress(_ progress: Double) { events.append("progress \(progress)") }
    func stopAnimating() { events.append("stop") }
}

extension ViewBench {
    /// Starts a load in a view, and waits until the loader was called.
    func begin(_ view: OpaquePointer, _ url: URL, _ options: WebImageOptions = [], placeholder: ViewPlaceholder? = nil)
        async throws
    {
        _ = view.setImage(with: url, placeholder: placeholder, options: options, context: context, completed: nil)
        try #require(await loader.request(of: url))
    }

    /// Ends a load, and waits until its view knows.
    func end(_ view: OpaquePointer, _ url: URL, with result: Result<Data, WebImageError> = .success(red)) async throws {
        loader.end(url, with: result)
        try #require(await MainLoopTurns.wait { view.latestLoadState?.isLoading == false })
    }
}
