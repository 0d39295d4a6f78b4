extension DecodingPlace {
    /// Returns the coder that decodes there in place of an in-process coder.
    package func coder(insteadOf base: any ImageCoder) -> any ImageCoder {
        guard let isolation, !(base is IsolatedImageCoder) else { return base }
        return IsolatedCoders.coder(isolation, base: base)
    }
}

/// The coders created for loads: equal ones share an instance, so that their work can be coalesced.
enum IsolatedCoders {
    private struct Entry {
        let base: CoderIdentity
        let coder: IsolatedImageCoder
    }

    /// The maximum number of cached coders; beyond it, fewer loads share one.
    private static let most = 16
    private static let entries = Lock<[Entry]>([])

    static func coder(_ isolation: DecodeIsolation, base: any ImageCoder) -> IsolatedImageCoder {
        let identity = CoderIdentity(base)
        guard !identity.isUnique else { return IsolatedImageCoder(isolation, base: base) }
        // Removed entries are released outside the lock, because coders may be custom.
        let (coder, former) = entries.withLock { entries -> (IsolatedImageCoder, [Entry]) in
            if let index = entries.firstIndex(where: { $0.base == identity && $0.coder.isolation == isolation }) {
                return (entries[index].coder, [])
            }
            let former = entries
            entries.append(Entry(base: identity, coder: IsolatedImageCoder(isolation, base: base)))
            if entries.count > most { entries.removeFirst() }
            return (entries[entries.count - 1].coder, former)
        }
        withExtendedLifetime(former) {}
        return coder
    }
}
