import CTestSupport
import Dispatch
import FoundationEssentials
import Glibc
import TestSupport
import WebImage

/// Prints when and where callbacks of the main queue run in a program that has its main thread to itself, which no test has. A line for each
/// fact:
///
///     CALLBACK/CALLER WHEN WHERE
///
/// CALLER is `call` (the main thread), `callback` (what the main queue runs) or `thread` (another thread); WHEN is `inline` (on the
/// caller's thread, before the call returned) or `later`; WHERE is `main-thread`, `main-queue` (on another thread) or `elsewhere`.
///
///     main-queue loop        the main thread runs the main queue, as programs do beside the loop of their toolkit
///     main-queue dispatch    the main thread is given up for the main queue, with `dispatchMain`
///
/// With `fork`, prints how loads end in a child that is forked after the library has worked, by the numbers of their errors:
///
///     FIRST IMAGE DATA       of the parent's load, and of the child's with a manager and with a downloader
enum MainQueue {
    static func run(_ arguments: [String]) throws {
        switch arguments {
        case ["loop"]:
            let facts = Facts()
            // From here on the main queue waits for this thread.
            ctest_run_main_queue(0)
            ask(facts)
            while !facts.areComplete { ctest_run_main_queue(100) }
            finish(facts)
        case ["dispatch"]:
            let facts = Facts()
            ask(facts)
            startThread {
                facts.waitUntilComplete()
                finish(facts)
            }
            dispatchMain()
        case ["fork"]: Forking.run()
        default: throw UsageError()
        }
    }

    /// Calls on this thread, the main queue, and another thread.
    private static func ask(_ facts: Facts) {
        // A program that does not end fails.
        alarm(30)
        let questions = Questions(facts)
        facts.expect(3 * questions.count)
        questions.ask(from: "call")
        DispatchQueue.main.async { questions.ask(from: "callback") }
        startThread { questions.ask(from: "thread") }
    }

    private static func finish(_ facts: Facts) {
        for line in facts.lines { print(line) }
        exit(0)
    }
}

/// Collects when and where callbacks run. To be created on the main thread.
private final class Facts: Sendable {
    private static let isMainQueue = DispatchSpecificKey<Bool>()

    private let mainThread = pthread_self()
    private let state = Monitor<(lines: [String], expected: Int)>(([], 0))

    init() { DispatchQueue.main.setSpecific(key: Self.isMainQueue, value: true) }

    func expect(_ count: Int) { state.withLock { $0.expected += count } }
    var lines: [String] { state.withLock { $0.lines.sorted() } }
    var areComplete: Bool { state.withLock { $0.lines.count == $0.expected } }
    func waitUntilComplete() { while state.wait(until: { $0.lines.count == $0.expected ? true : nil }) == nil {} }

    /// Makes a call that takes a callback, and records when and where that runs.
    func note(_ name: String, _ call: (@escaping @Sendable () -> Void) -> Void) {
        let hasReturned = Monitor(false)
        let caller = pthread_self()
        call { [self] in
            let isInline = pthread_equal(caller, pthread_self()) != 0 && !hasReturned.withLock { $0 }
            let line = "\(name) \(isInline ? "inline" : "later") \(place)"
            state.withLock { $0.lines.append(line) }
        }
        hasReturned.withLock { $0 = true }
    }

    private var place: String {
        if pthread_equal(mainThread, pthread_self()) != 0 { return "main-thread" }
        return DispatchQueue.getSpecific(key: Self.isMainQueue) == true ? "main-queue" : "elsewhere"
    }
}

/// The calls whose callbacks are checked.
private final class Questions: Sendable {
    private static let queues: [(String, CallbackQueue)] = [
        ("main", .main),
        ("safe-execute", CallbackQueue(.main)),
        ("safe-async", CallbackQueue(DispatchQueue(label: "other"), policy: .safeAsyncMainThread)),
        ("dispatch", CallbackQueue(.main, policy: .dispatch)),
        ("invoke", CallbackQueue(.main, policy: .invoke)),
    ]

    private let facts: Facts
    private let cache: ImageCache
    private let manager: WebImageManager
    private let directory = TemporaryDirectory()
    private let cached = "drawing://cached"

    init(_ facts: Facts) {
        self.facts = facts
        cache = ImageCache(directory: directory.path)
        cache.storeToMemory(.tiny(), forKey: cached)
        let loader = ClosureImageLoader(canLoad: { url, _ in url.scheme == "drawing" }) { _, _ in
            LoadedImageData(image: .tiny())
        }
        manager = WebImageManager(cache: cache, loader: loader)
    }

    /// The number of facts of one round.
    var count: Int { Self.queues.count + 4 }

    /// Calls on the calling thread, which is named `caller`.
    func ask(from caller: String) {
        for (name, queue) in Self.queues { facts.note("\(name)/\(caller)") { queue.async($0) } }
        facts.note("load-hit/\(caller)") { end in manager.loadImage(with: cached) { _ in end() } }
        facts.note("load-miss/\(caller)") { end in manager.loadImage(with: "drawing://\(caller)") { _ in end() } }
        facts.note("query-hit/\(caller)") { end in cache.queryImage(forKey: cached) { _ in end() } }
        facts.note("query-miss/\(caller)") { end in cache.queryImage(forKey: "missing \(caller)") { _ in end() } }
    }
}

/// A program that forks after the library has started threads.
private enum Forking {
    private static let manager = WebImageManager(
        cache: ImageCache(directory: "/nonexistent"),
        loader: ImageLoadersManager()
    )

    /// The result of a load of a missing file.
    private static func load() -> Int {
        var context = WebImageContext()
        context.callbackQueue = .inline
        let code = Monitor<Int?>(nil)
        manager.loadImage(with: URL(filePath: "/nonexistent/a.png"), context: context) { result in
            if case .failure(let error) = result { code.withLock { $0 = error.code.rawValue } }
        }
        return code.wait { $0 } ?? 0
    }

    private static func download() -> Int {
        let code = Monitor<Int?>(nil)
        let url = URL(string: "http://127.0.0.1:9/a.png") ?? URL(filePath: "/")
        WebImageDownloader.shared.downloadData(with: url, callbackQueue: .inline) { result in
            if case .failure(let error) = result { code.withLock { $0 = error.code.rawValue } }
        }
        return code.wait { $0 } ?? 0
    }

    static func run() -> Never {
        alarm(30)
        let first = load()
        let child = ctest_fork()
        guard child == 0 else {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            exit(status == 0 ? 0 : 1)
        }
        // A hanging process ends, without output.
        alarm(10)
        print(first, load(), download())
        fflush(nil)
        _exit(0)
    }
}
