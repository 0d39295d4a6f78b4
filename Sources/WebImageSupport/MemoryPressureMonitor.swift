import CLinux

/// How short memory is.
package enum MemoryPressureLevel: Sendable, Hashable {
    /// Some tasks wait for memory.
    case some
    /// All of them do, at times.
    case full
}

/// Where reports of memory pressure come from.
package protocol MemoryPressureSource: AnyObject, Sendable {
    /// Waits for the next report; nil when the source has been stopped or cannot go on.
    func next() -> MemoryPressureLevel?
    /// Makes ``next()`` return nil, now and later. Called on another thread.
    func stop()
}

/// Tells those who hold much memory that the system runs short of it.
///
/// One thread waits for the kernel's reports (PSI) as long as anybody listens, and none otherwise or where the kernel does not
/// report. Listeners are called on that thread.
package final class MemoryPressureMonitor: Sendable {
    /// The monitor of the machine, or of the process's control group if that has a limit.
    package static let shared = MemoryPressureMonitor(openSource: PressureStallSource.open)

    package typealias Listener = @Sendable (MemoryPressureLevel) -> Void

    /// A listener's place; it is called no more when this is gone.
    package final class Registration: Sendable {
        private let id: UInt64
        private let monitor: MemoryPressureMonitor

        fileprivate init(id: UInt64, monitor: MemoryPressureMonitor) {
            self.id = id
            self.monitor = monitor
        }

        deinit { monitor.unregister(id) }
    }

    private struct State {
        var listeners: [UInt64: Listener] = [:]
        var nextID: UInt64 = 0
        var source: (any MemoryPressureSource)?
        var isUnavailable = false
    }

    private let state = Lock(State())
    private let openSource: @Sendable () -> (any MemoryPressureSource)?

    package init(openSource: @escaping @Sendable () -> (any MemoryPressureSource)?) { self.openSource = openSource }

    /// False when someone wanted to listen and there was nothing to listen to.
    package var isAvailable: Bool { state.withLock { !$0.isUnavailable } }

    /// Whether a thread is waiting for reports.
    package var isListening: Bool { state.withLock { $0.source != nil } }

    /// Calls `listener` for each report until the registration is gone.
    package func register(_ listener: @escaping Listener) -> Registration {
        let (id, started) = state.withLock { state -> (UInt64, (any MemoryPressureSource)?) in
            state.nextID += 1
            state.listeners[state.nextID] = listener
            guard state.source == nil, !state.isUnavailable else { return (state.nextID, nil) }
            state.source = openSource()
            state.isUnavailable = state.source == nil
            return (state.nextID, state.source)
        }
        if let started { start(started) }
        return Registration(id: id, monitor: self)
    }

    private func unregister(_ id: UInt64) {
        // Listener and source are released outside the lock.
        let (listener, source) = state.withLock { state -> (Listener?, (any MemoryPressureSource)?) in
            let listener = state.listeners.removeValue(forKey: id)
            guard state.listeners.isEmpty, let source = state.source else { return (listener, nil) }
            state.source = nil
            return (listener, source)
        }
        source?.stop()
        withExtendedLifetime(listener) {}
    }

    private func start(_ source: any MemoryPressureSource) {
        let started = DetachedThread.start(name: "memory-pressure", stackByteCount: 256 << 10) { [self] in
            while let level = source.next() { report(level) }
            abandon(source)
        }
        if !started { abandon(source) }
    }

    /// A source has ended; unless it was stopped, there will be no other.
    private func abandon(_ source: any MemoryPressureSource) {
        state.withLock { state in
            guard state.source === source else { return }
            state.source = nil
            state.isUnavailable = true
        }
    }

    private func report(_ level: MemoryPressureLevel) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener(level) }
        // After the listeners: what they let go of went there.
        BufferPool.shared.trim(toBytes: 0)
        webimage_transfer_trim()
    }
}
