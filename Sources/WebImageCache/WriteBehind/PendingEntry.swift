import FoundationEssentials

/// What the work on a key comes to, several pieces of it as one: the state that readers must see, and what is still to be done on disk.
struct PendingEntry {
    /// Whether what is on disk does not count any more.
    var hidesDisk = false
    /// What is about to change of the entry on disk.
    private(set) var amendment: EntryAmendment?
    /// What is about to be stored. An entry on disk wins, unless it is hidden.
    private(set) var picture: DiskWork.Picture?

    /// Goes on by a piece of work.
    mutating func apply(_ work: DiskWork, replacing: Bool) {
        switch work {
        case .store(let new):
            if replacing { self = PendingEntry(hidesDisk: true) }
            if picture == nil { picture = new }
        case .remove: self = PendingEntry(hidesDisk: true)
        case .nothing: break
        case .amend(let change):
            if !hidesDisk { amendment = amendment?.followed(by: change) ?? change }
            switch picture {
            case .entry(let entry): picture = .entry(entry.amended(by: change))
            case .image(let image): picture = .image(image.amended(by: change))
            case nil: break
            }
        }
    }

    /// Goes on by the work that another one stands for.
    mutating func apply(_ later: PendingEntry) {
        if later.hidesDisk {
            self = later
            return
        }
        if let amendment = later.amendment { apply(.amend(amendment), replacing: false) }
        if picture == nil { picture = later.picture }
    }

    // MARK: Doing it

    /// Bytes that waiting holds in memory.
    var cost: Int { picture?.cost ?? amendment?.cost ?? 0 }

    /// Takes out what is to be done next. Nothing remains after the last. A write that does not replace leaves it to be removed or
    /// amended before.
    mutating func takeNext(replacing: Bool) -> (work: DiskWork, isLast: Bool) {
        if let picture, replacing && hidesDisk || !hidesDisk && amendment == nil { return (.store(picture), true) }
        let isLast = picture == nil
        if hidesDisk {
            hidesDisk = false
            return (.remove, isLast)
        }
        return (amendment.take().map { .amend($0) } ?? .nothing, isLast)
    }

    /// Gives up what costs memory: a write becomes a removal, so that a reader does not find what was there before (unless that is to be
    /// kept).
    mutating func drop(replacing: Bool) {
        if picture == nil { amendment = nil } else if replacing { self = PendingEntry(hidesDisk: true) }
        picture = nil
    }
}
