/// The pipelines of budgets other than that of the process. Holds none of them.
private enum Pipelines {
    struct Entry: Sendable {
        weak var pipeline: Pipeline?
    }

    static let entries = Lock<[Entry]>([])
}

extension DecodedMemoryBudget {
    /// The pipeline of all managers that are made with this budget: they share work as others do.
    var pipeline: Pipeline {
        guard !isProcessWide else { return .shared }
        // What is looked at may be the last reference by now, and has to go outside the lock.
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
