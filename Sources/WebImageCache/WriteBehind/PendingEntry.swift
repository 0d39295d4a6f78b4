import FoundationEssentials

/// The combined pending work on a key: the state that readers must see, and the remaining disk operations.
struct PendingEntry {
    /// True if the entry on disk is obsolete.
    var hidesDisk = false
    /// The pending change of the entry on disk.
    private(set) var amendment: EntryAmendment?
    /// The pending store. An entry on disk takes precedence, unless it is hidden.
    private(set) var source: DiskWork.Source?

    /// Adds a piece of work.
    mutating func apply(_ work: DiskWork, replacing: Bool) {
        switch work {
        case .store(let new):
            if replacing { self = PendingEntry(hidesDisk: true) }
            if source == nil { source = new }
        case .remove: self = PendingEntry(hidesDisk: true)
        case .nothing: break
        case .amend(let change):
            if !hidesDisk { amendment = amendment?.followed(by: change) ?? change }
            switch source {
            case .entry(let entry): source = .entry(entry.amended(by: change))
            case .image(let image): source = .image(image.amended(by: change))
            case nil: break
            }
        }
    }

    /// Adds the combined work of another pending entry.
    mutating func apply(_ later: PendingEntry) {
        if later.hidesDisk {
            self = later
            return
        }
        if let amendment = later.amendment { apply(.amend(amendment), replacing: false) }
        if source == nil { source = later.source }
    }

    // MARK: Execution

    /// The number of bytes held in memory while pending.
    var cost: Int { source?.cost ?? amendment?.cost ?? 0 }

    /// Removes and returns the next operation; nothing remains after the last one. Before a write that does not replace, the
    /// removal or the amendment is returned.
    mutating func takeNext(replacing: Bool) -> (work: DiskWork, isLast: Bool) {
        if let source, replacing && hidesDisk || !hidesDisk && amendment == nil { return (.store(source), true) }
        let isLast = source == nil
        if hidesDisk {
            hidesDisk = false
            return (.remove, isLast)
        }
        return (amendment.take().map { .amend($0) } ?? .nothing, isLast)
    }

    /// Drops the parts that cost memory: a write becomes a removal, so that readers do not find the previous entry (unless existing
    /// entries are to be kept).
    mutating func drop(replacing: Bool) {
        if source == nil { amendment = nil } else if replacing { self = PendingEntry(hidesDisk: true) }
        source = nil
    }
}
