/// The allowed contents of a cache after a number of steps, of which some were disturbed: for each key the correct
/// entries, nil for none. It knows nothing of files.
public struct FaultModel: Sendable {
    /// The outcome of a step.
    public enum Outcome: Sendable, Hashable {
        /// As it should.
        case done
        /// A store that reports that nothing was stored.
        case refused
        /// A call in it failed, which may be unreported.
        case disturbed
        /// The process ended in it.
        case interrupted
    }

    private var allowed: [Int: Set<FaultEntry?>] = [:]
    /// A Boolean value that indicates whether entries may be removed automatically with every step.
    private var isLimited = false

    /// An empty cache.
    public init() {}

    /// The possible entries under a key.
    public func entries(of number: Int) -> Set<FaultEntry?> { allowed[number] ?? [nil] }

    /// Returns whether an entry may be there.
    ///
    /// - Parameter isLossy: Indicates whether entries may be missing: a failing disk may lose any of them, but may
    ///   never bring
    ///   back one that was replaced.
    public func allows(_ entry: FaultEntry?, of number: Int, isLossy: Bool) -> Bool {
        entries(of: number).contains(entry) || (isLossy && entry == nil)
    }

    /// Applies a step.
    public mutating func apply(_ operation: FaultOperation, _ outcome: Outcome) {
        switch operation {
        case .store(let number, let version):
            if outcome != .refused { become([FaultEntry(number, version: version)], number, outcome) }
        case .amend(let number, let round):
            become(changed(number) { $0.round = FaultEntry.round(number, round) }, number, outcome)
        case .setExtendedData(let number, let round):
            become(changed(number) { $0.extended = "again \(round)" }, number, outcome)
        case .remove(let number): become([nil], number, outcome)
        case .removeAll: for number in FaultOperation.numbers { become([nil], number, outcome) }
        case .migrate(let numbers):
            // None over an existing one.
            for number in numbers {
                let before = entries(of: number)
                let moved = FaultEntry(number, version: 1)
                var after = Set(before.map { $0 ?? moved })
                // The entry in its way may have been lost.
                if outcome != .done { after.insert(moved) }
                become(after, number, outcome)
            }
        case .limit(let bytes): isLimited = bytes > 0
        case .expire: mayBeGone()
        case .read, .look, .reopen: break
        }
        if isLimited { mayBeGone() }
    }

    private func changed(_ number: Int, _ change: (inout FaultEntry) -> Void) -> Set<FaultEntry?> {
        Set(
            entries(of: number).map { entry in
                var entry = entry
                if var found = entry {
                    change(&found)
                    entry = found
                }
                return entry
            }
        )
    }

    private mutating func become(_ entries: Set<FaultEntry?>, _ number: Int, _ outcome: Outcome) {
        allowed[number] = outcome == .done ? entries : entries.union(self.entries(of: number))
    }

    /// A size limit or an age removes entries, and it is unknown which.
    private mutating func mayBeGone() {
        for number in FaultOperation.numbers { allowed[number] = entries(of: number).union([nil]) }
    }
}
