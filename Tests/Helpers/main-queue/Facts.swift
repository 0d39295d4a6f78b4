import Dispatch
import Glibc
import TestSupport

/// Collects when and where callbacks came. To be made on the main thread.
final class Facts: Sendable {
    private static let isMainQueue = DispatchSpecificKey<Bool>()

    private let mainThread = pthread_self()
    private let state = Monitor<(lines: [String], expected: Int)>(([], 0))

    init() { DispatchQueue.main.setSpecific(key: Self.isMainQueue, value: true) }

    func expect(_ count: Int) { state.withLock { $0.expected += count } }
    var lines: [String] { state.withLock { $0.lines.sorted() } }
    var areComplete: Bool { state.withLock { $0.lines.count == $0.expected } }
    func waitUntilComplete() { while state.wait(until: { $0.lines.count == $0.expected ? true : nil }) == nil {} }

    /// Makes a call that takes a callback, and notes when and where that came.
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
