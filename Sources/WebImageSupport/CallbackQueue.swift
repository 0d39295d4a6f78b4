import CLinux
public import Dispatch

/// Where callbacks run.
public struct CallbackQueue: Sendable {
    /// When a callback runs inline and when it is dispatched.
    public enum Policy: Int, Sendable {
        /// Inline if already on the queue (or on the main thread, when the queue is the main one), else dispatched. Code that the
        /// main queue runs counts as on it in every policy, whichever thread runs the main queue.
        case safeExecute = 0
        /// Always dispatched.
        case dispatch = 1
        /// Always inline, on whichever thread finished the work.
        case invoke = 2
        /// Inline on the main thread, else dispatched to the main queue; ignores the queue.
        case safeAsyncMainThread = 3
    }

    /// The queue that callbacks are dispatched to.
    public let queue: DispatchQueue
    /// When a callback runs inline.
    public let policy: Policy

    /// Callbacks on `queue`.
    public init(_ queue: DispatchQueue, policy: Policy = .safeExecute) {
        self.queue = queue
        self.policy = policy
        id = policy == .safeExecute ? Self.identity(of: queue) : nil
    }

    /// The main thread or the main queue: inline when already there, else asynchronously. The default of every callback.
    public static var main: CallbackQueue { CallbackQueue(.main, policy: .safeAsyncMainThread) }
    /// A concurrent background queue.
    public static var global: CallbackQueue { CallbackQueue(.global(qos: .userInitiated), policy: .dispatch) }
    /// Inline, on whichever thread finished the work. The callback must be quick and must not block.
    public static var inline: CallbackQueue { CallbackQueue(.global(), policy: .invoke) }

    /// The queue's identity, if it can be told whether code runs on it.
    private let id: Int?

    // On Linux a `DispatchQueue` is a wrapper that is made anew each time the main queue or a global one is asked for, so
    // objects do not tell queues apart; numbers kept with the queues do.
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

    /// Whether the caller runs on the main thread, or on the thread that runs the main queue at this moment: `dispatchMain` gives
    /// that queue to threads of Dispatch on Linux.
    private static var isOnMain: Bool { isMainThread || DispatchQueue.getSpecific(key: marker) == mainIdentity }

    /// Whether the caller runs on the thread that started the process.
    package static var isMainThread: Bool { webimage_is_main_thread() }
}
