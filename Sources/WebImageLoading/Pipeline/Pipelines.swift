/// The pipelines of budgets other than the process's, held weakly.
private enum Pipelines {
    struct Entry: Sendable {
        weak var pipeline: Pipeline?
    }

    static let entries = Lock<[Entry]>([])
}

extension DecodedMemoryBudget {
    /// The pipeline shared by all managers with this budget, so that their loads are coalesced.
    var pipeline: Pipeline {
        guard !isProcessWide else { return .shared }
        // These may be the last references by now, and must be released outside the lock.
        let (pipeline, seen) = Pipelines.entries.withLock { entries -> (Pipeline, [Pipeline]) in
            let there = entries.compactMap(\.pipeline)
            if let known = there.first(where: { $0.budget === self }) { return (known, there) }
            let pipeline = Pipeline(budget: self)
            entries = (there + [pipeline]).map(Pipelines.Entry.init)
            return (pipeline, there)
        }
        withExtendedLifetime(seen) {}
        return pipeline
    }
}
