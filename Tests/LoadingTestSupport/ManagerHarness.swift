package import FoundationEssentials
package import ModelTestSupport
package import WebImageLoading

/// A manager on fakes, with all objects that a test checks.
package struct ManagerHarness {
    package let cache = FakeCache()
    package let coder = PlainCoder()
    package let loader: FakeLoader
    package let manager: WebImageManager
    package let url = URL(string: "http://host/picture.png")!

    package init(
        respond: (@Sendable (URL) -> Result<String, WebImageError>)? = nil,
        undecodedByteLimit: Int = 64 << 20,
        clock: ClockSource = .system
    ) {
        loader = FakeLoader(respond: respond)
        manager = WebImageManager(
            cache: cache,
            loader: loader,
            pipeline: Pipeline(undecodedByteLimit: undecodedByteLimit, clock: clock),
            clock: clock
        )
    }

    /// A harness whose loads succeed at once.
    package static func answering(_ text: String = "picture") -> ManagerHarness {
        ManagerHarness { _ in .success(text) }
    }

    package func context(_ change: (inout WebImageContext) -> Void = { _ in }) -> WebImageContext {
        var context = WebImageContext()
        context.imageCoder = coder
        context.callbackQueue = .inline
        change(&context)
        return context
    }

    package func thumbnail(_ side: Int) -> WebImageContext {
        context { $0.thumbnailPixelSize = ImageSize(width: side, height: side) }
    }

    /// Starts a load and returns its future result.
    package func start(
        _ url: URL? = nil,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil
    ) -> (operation: WebImageLoadOperation, outcome: Outcome) {
        let outcome = Outcome()
        let operation = manager.loadImage(
            with: url ?? self.url,
            options: options,
            context: context ?? self.context(),
            progress: progress
        ) { outcome.record($0) }
        return (operation, outcome)
    }
}

extension Pipeline {
    /// Returns whether everything is released within seconds of the last completion: completions are called before the
    /// calling threads have released their objects.
    package func becomesIdle() async -> Bool {
        await becomes { runningCount == 0 && waitingCount == 0 && gate.reservedByteCount == 0 }
    }
}

/// The results of a load, and their number.
package final class Outcome: Sendable {
    private let list = Lock<[Result<WebImageResult, WebImageError>]>([])
    private let counter = EventCounter()

    package init() {}

    package func record(_ result: Result<WebImageResult, WebImageError>) {
        list.withLock { $0.append(result) }
        counter.signal()
    }

    /// The number of calls of the completion.
    package var count: Int { list.withLock { $0.count } }

    /// All results, after waiting for this many.
    package func values(_ count: Int) async -> [Result<WebImageResult, WebImageError>] {
        await counter.wait(for: count)
        return list.withLock { $0 }
    }

    /// The first result, after waiting for it.
    package func value() async -> Result<WebImageResult, WebImageError> {
        await counter.wait(for: 1)
        return list.withLock { $0[0] }
    }

    package func image() async throws -> Image { try await value().get().image }

    package func error() async -> WebImageError? {
        if case .failure(let error) = await value() { return error }
        return nil
    }
}
