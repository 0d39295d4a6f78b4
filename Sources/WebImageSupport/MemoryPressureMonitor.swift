import CLinux

/// The severity of memory pressure.
package enum MemoryPressureLevel: Sendable, Hashable {
    /// Some tasks wait for memory.
    case some
    /// All tasks wait for memory at times.
    case full
}

/// A source of memory pressure reports.
package protocol MemoryPressureSource: AnyObject, Sendable {
    /// Waits for the next report; nil if the source has been stopped or has failed.
    func next() -> MemoryPressureLevel?
    /// Makes ``next()`` return nil, now and later. Called on another thread.
    func stop()
}

/// Notifies owners of much memory that the system runs short of it.
///
/// While there are listeners, one thread waits for the kernel's reports (PSI); there is none otherwise, or if the kernel does not
/// report. Listeners are called on that thread.
package final class MemoryPressureMonitor: Sendable {
    /// The monitor of the machine, or of the process's control group if that has a limit.
    package static let shared = MemoryPressureMonitor(openSource: PressureStallSource.open)

    package typealias Listener = @Sendable (MemoryPressureLevel) -> Void

    /// A registered listener; it is not called after this object is released.
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

    /// False after a registration found no source of reports.
    package var isAvailable: Bool { state.withLock { !$0.isUnavailable } }

    /// Indicates whether a thread is waiting for reports.
    package var isListening: Bool { state.withLock { $0.source != nil } }

    /// Calls `listener` for each report until the registration is released.
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

    /// Reports the end of a source; unless it was stopped, no other is opened.
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
        // After the listeners: the blocks that they release go into the pool.
        BufferPool.shared.trim(toBytes: 0)
        webimage_transfer_trim()
    }
}
