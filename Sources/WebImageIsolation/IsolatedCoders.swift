extension DecodingPlace {
    /// Returns the coder that decodes there in place of an in-process coder.
    package func coder(insteadOf base: any ImageCoder) -> any ImageCoder {
        guard let isolation, !(base is IsolatedImageCoder) else { return base }
        return IsolatedCoders.coder(isolation, base: base)
    }
}

/// The coders created for loads: equal ones share an instance, so that their work can be coalesced.
enum IsolatedCoders {
    private static let table = Lock(IsolatedCoderTable())

    static func coder(_ isolation: DecodeIsolation, base: any ImageCoder) -> IsolatedImageCoder {
        let identity = CoderIdentity(base)
        guard !identity.isUnique else { return IsolatedImageCoder(isolation, base: base) }
        let (coder, released) = table.withLock { $0.coder(isolation, base, identity) }
        // Outside the lock, because it releases other coders, which may be custom.
        withExtendedLifetime(released) {}
        return coder
    }
}

/// The coders that loads use, however many there are, and the latest ones that none uses.
///
/// A limit for those in use would create a second coder for running loads as soon as a program has more policies: equal loads would then no
/// longer share a decode.
struct IsolatedCoderTable {
    private struct Entry {
        let base: CoderIdentity
        let isolation: DecodeIsolation
        weak var coder: IsolatedImageCoder?
    }

    /// The number of coders that stay without being used.
    static let unusedCount = 16

    /// By domain: there is one for each policy, and few other settings.
    private var entries: [String: [Entry]] = [:]
    private(set) var count = 0
    /// The number of entries at which those without a coder are removed.
    private var sweepCount = 2 * unusedCount
    /// The latest coders, the last one at the end.
    private var latest: [IsolatedImageCoder] = []

    /// Returns the coder for these settings, a new one if there is none, and coders that the caller must release.
    mutating func coder(
        _ isolation: DecodeIsolation,
        _ base: any ImageCoder,
        _ identity: CoderIdentity
    ) -> (IsolatedImageCoder, [IsolatedImageCoder]) {
        let known = entries[isolation.domain]?.first {
            $0.base == identity && $0.isolation == isolation && $0.coder != nil
        }
        if let coder = known?.coder { return (coder, use(coder)) }
        var released = count >= sweepCount ? sweep() : []
        let coder = IsolatedImageCoder(isolation, base: base)
        entries[isolation.domain, default: []].append(Entry(base: identity, isolation: isolation, coder: coder))
        count += 1
        released += use(coder)
        return (coder, released)
    }

    /// Makes a coder the latest one; returns the one whose place it takes.
    private mutating func use(_ coder: IsolatedImageCoder) -> [IsolatedImageCoder] {
        guard latest.last !== coder else { return [] }
        latest.removeAll { $0 === coder }
        latest.append(coder)
        return latest.count > Self.unusedCount ? [latest.removeFirst()] : []
    }

    /// Removes the entries of coders that are gone; returns the others, because the last use of one may end meanwhile.
    private mutating func sweep() -> [IsolatedImageCoder] {
        var used: [IsolatedImageCoder] = []
        for (domain, list) in entries {
            let rest = list.filter { entry in
                guard let coder = entry.coder else { return false }
                used.append(coder)
                return true
            }
            entries[domain] = rest.isEmpty ? nil : rest
        }
        count = used.count
        sweepCount = 2 * max(count, Self.unusedCount)
        return used
    }
}
