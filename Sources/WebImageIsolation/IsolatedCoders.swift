extension DecodingPlace {
    /// What decodes there in place of a coder of this process.
    package func coder(insteadOf base: any ImageCoder) -> any ImageCoder {
        guard let isolation, !(base is IsolatedImageCoder) else { return base }
        return IsolatedCoders.coder(isolation, base: base)
    }
}

/// Coders that were made for loads: those that differ in nothing share one, so that they share their work, too.
enum IsolatedCoders {
    private struct Entry {
        let base: CoderIdentity
        let coder: IsolatedImageCoder
    }

    /// More kinds of coders than that at a time share less.
    private static let most = 16
    private static let entries = Lock<[Entry]>([])

    static func coder(_ isolation: DecodeIsolation, base: any ImageCoder) -> IsolatedImageCoder {
        let identity = CoderIdentity(base)
        guard !identity.isUnique else { return IsolatedImageCoder(isolation, base: base) }
        // What goes, goes outside the lock: coders are anybody's.
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
