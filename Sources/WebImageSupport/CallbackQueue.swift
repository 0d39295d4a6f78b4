import CLinux
public import Dispatch

/// The queue on which callbacks run, with a policy.
public struct CallbackQueue: Sendable {
    /// The rule that decides whether a callback runs inline or is dispatched.
    public enum Policy: Int, Sendable {
        /// Inline if already on the queue (or on the main thread, if the queue is the main one), else dispatched. Code that runs on
        /// the main queue counts as on it in every policy, whichever thread runs the main queue.
        case safeExecute = 0
        /// Always dispatched.
        case dispatch = 1
        /// Always inline, on the thread that finished the work.
        case invoke = 2
        /// Inline on the main thread, else dispatched to the main queue; ignores the queue.
        case safeAsyncMainThread = 3
    }

    /// The queue that callbacks are dispatched to.
    package let queue: DispatchQueue
    /// The rule that decides whether a callback runs inline.
    public let policy: Policy

    /// Creates a queue for callbacks on `queue`.
    public init(_ queue: DispatchQueue, policy: Policy = .safeExecute) {
        self.queue = queue
        self.policy = policy
        id = policy == .safeExecute ? Self.identity(of: queue) : nil
    }

    /// The main thread or the main queue: inline if already there, else asynchronously. The default of every callback.
    public static var main: CallbackQueue { CallbackQueue(.main, policy: .safeAsyncMainThread) }
    /// A concurrent background queue.
    public static var global: CallbackQueue { CallbackQueue(.global(qos: .userInitiated), policy: .dispatch) }
    /// Inline, on the thread that finished the work. The callback must be quick and must not block.
    public static var inline: CallbackQueue { CallbackQueue(.global(), policy: .invoke) }

    /// The queue's identity, for policies that check whether code runs on it.
    private let id: Int?

    // On Linux a `DispatchQueue` is a wrapper that is created each time the main queue or a global one is requested, so object
    // identity does not identify queues; numbers stored in the queues do.
    private static let marker = DispatchSpecificKey<Int>()
    private static let lastIdentity = Lock(0)
    private static let mainIdentity = identity(of: .main)

    private static func identity(of queue: DispatchQueue) -> Int {
        lastIdentity.withLock { last in
            if let known = queue.getSpecific(key: marker) { return known }
            last += 1
            queue.setSpecific(key: marker, value: last)
            return last
        }
    }

    /// Runs `body` by the policy.
    public func async(_ body: @escaping @Sendable () -> Void) {
        switch policy {
        case .invoke:
            body()
        case .dispatch:
            queue.async(execute: body)
        case .safeAsyncMainThread:
            if Self.isOnMain { body() } else { DispatchQueue.main.async(execute: body) }
        case .safeExecute:
            let isHere =
                id == Self.mainIdentity
                ? Self.isOnMain : id != nil && DispatchQueue.getSpecific(key: Self.marker) == id
            if isHere { body() } else { queue.async(execute: body) }
        }
    }

    /// Indicates whether the caller runs on the main thread, or on the thread that runs the main queue at this moment:
    /// `dispatchMain` gives that queue to threads of Dispatch on Linux.
    private static var isOnMain: Bool { isMainThread || DispatchQueue.getSpecific(key: marker) == mainIdentity }

    /// Indicates whether the caller runs on the thread that started the process.
    package static var isMainThread: Bool { webimage_is_main_thread() }
}
