import FoundationEssentials

/// Brings what is there of bodies that are still arriving to the decodes that want to begin with it.
final class PartialBodies: Sendable {
    typealias Receiver = @Sendable (PartialImageData.Snapshot) -> Void

    /// A decode's place; it gets nothing more when this is gone.
    final class Membership: Sendable {
        private let bodies: PartialBodies
        private let key: Boxed<LoadPlan.Fetch>
        private let id: UInt64

        fileprivate init(_ bodies: PartialBodies, _ key: Boxed<LoadPlan.Fetch>, _ id: UInt64) {
            (self.bodies, self.key, self.id) = (bodies, key, id)
        }

        deinit { bodies.leave(key, id) }
    }

    private struct State {
        var receivers: [Boxed<LoadPlan.Fetch>: [UInt64: Receiver]] = [:]
        var nextID: UInt64 = 0
    }

    private let state = Lock(State())
    /// Decodes that wait for any body. Most loads have none, and look no further.
    private let memberCount = Counter()

    /// Places that are taken.
    var count: Int { memberCount.value }

    /// Begins to bring snapshots of what a loader is asked for, on the loader's threads.
    func join(_ key: Boxed<LoadPlan.Fetch>, _ receiver: @escaping Receiver) -> Membership {
        memberCount.add()
        let id = state.withLock { state -> UInt64 in
            state.nextID += 1
            state.receivers[key, default: [:]][state.nextID] = receiver
            return state.nextID
        }
        return Membership(self, key, id)
    }

    /// Where a loader leaves what it has.
    func source(for key: Boxed<LoadPlan.Fetch>) -> PartialImageData {
        PartialImageData { [self] in
            memberCount.value > 0 && state.withLock { $0.receivers[key] != nil }
        } receive: { [self] snapshot in
            for receiver in state.withLock({ $0.receivers[key].map { Array($0.values) } ?? [] }) { receiver(snapshot) }
        }
    }

    private func leave(_ key: Boxed<LoadPlan.Fetch>, _ id: UInt64) {
        // It may own anything, and goes outside the lock.
        let former = state.withLock { state -> Receiver? in
            let former = state.receivers[key]?.removeValue(forKey: id)
            if state.receivers[key]?.isEmpty ?? false { state.receivers[key] = nil }
            return former
        }
        memberCount.add(-1)
        withExtendedLifetime(former) {}
    }
}
