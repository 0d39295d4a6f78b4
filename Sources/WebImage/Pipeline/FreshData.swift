/// Original bytes that a loader brought and that have not been decoded to the end.
///
/// Work that got them has ended, and the disk does not have them before they have proved to be a picture. So a load that comes
/// now and wants another size of the picture finds them here, instead of downloading them once more.
final class FreshData: Sendable {
    /// Keeps bytes findable as long as it lives and nobody ends it; who has the bytes has it, too.
    final class Lease: Sendable {
        private let key: Boxed<LoadPlan.Original>
        private let owner: FreshData

        fileprivate init(_ key: Boxed<LoadPlan.Original>, _ owner: FreshData) {
            self.key = key
            self.owner = owner
        }

        deinit { end() }

        /// Makes the bytes go at once: they are stored, or are no picture, or somebody has an image of them and may ask for
        /// newer ones.
        func end() { owner.forget(key, of: ObjectIdentifier(self)) }
    }

    /// What a decode has of a lease until it ends or is given up.
    struct Holder: Sendable {
        private let lease: Lock<Lease?>

        fileprivate init(_ lease: Lease?) { self.lease = Lock(lease) }

        /// Nobody finds the bytes any more.
        func end() { take()?.end() }

        /// Nobody finds the bytes any more unless another decode has them, too.
        func giveUp() { withExtendedLifetime(take()) {} }

        private func take() -> Lease? { lease.withLock { $0.take() } }
    }

    private struct Entry {
        /// Without its lease.
        var original: OriginalData
        weak var lease: Lease?
        let leaseID: ObjectIdentifier
    }

    private struct State {
        var entries: [Boxed<LoadPlan.Original>: Entry] = [:]
        var hitCount = 0
    }

    private let state = Lock(State())

    /// Pictures that are here.
    var count: Int { state.withLock { $0.entries.count } }
    /// Whether there is nothing.
    var isEmpty: Bool { count == 0 }
    /// How often something was found.
    var hitCount: Int { state.withLock { $0.hitCount } }

    /// Makes bytes findable as long as the result or a copy of it lives. Of two with one key the later ones are found.
    func share(_ original: OriginalData, as key: Boxed<LoadPlan.Original>) -> OriginalData {
        let lease = Lease(key, self)
        let former = state.withLock {
            $0.entries.updateValue(
                Entry(original: original, lease: lease, leaseID: ObjectIdentifier(lease)),
                forKey: key
            )
        }
        withExtendedLifetime(former) {}
        var result = original
        result.lease = lease
        return result
    }

    /// The bytes of that key, if somebody still decodes them.
    func find(_ key: Boxed<LoadPlan.Original>) -> OriginalData? {
        state.withLock { state in
            guard let entry = state.entries[key], let lease = entry.lease else { return nil }
            state.hitCount += 1
            var result = entry.original
            result.lease = lease
            return result
        }
    }

    /// Let go of outside the lock: the end of a reservation lets loads in.
    private func forget(_ key: Boxed<LoadPlan.Original>, of lease: ObjectIdentifier) {
        let entry = state.withLock { state -> Entry? in
            state.entries[key]?.leaseID == lease ? state.entries.removeValue(forKey: key) : nil
        }
        withExtendedLifetime(entry) {}
    }
}

extension OriginalData {
    /// Takes the bytes and what keeps them findable apart, so that who decodes them can let go of the latter earlier.
    var withoutLease: (OriginalData, FreshData.Holder) {
        var result = self
        result.lease = nil
        return (result, FreshData.Holder(lease))
    }
}
