import FoundationEssentials

/// What the work on a key comes to, several pieces of it as one: the state that readers must see, and what is still to be done on disk.
struct PendingEntry {
    /// What an entry is about to be made of.
    enum Picture {
        /// These bytes.
        case entry(CachedImageData)
        /// This, encoded.
        case image(PendingImage)

        /// What stores it.
        var work: DiskWork {
            switch self {
            case .entry(let entry): .write(entry)
            case .image(let image): .encode(image)
            }
        }

        /// The entry; encodes, if that is needed. Nil when that cannot be done.
        var entry: CachedImageData? {
            switch self {
            case .entry(let entry): entry
            case .image(let image): image.encoded()
            }
        }

        /// What is stored with it; the bytes of an image are not there yet.
        var content: CachedImageData {
            switch self {
            case .entry(let entry): entry
            case .image(let image): image.entry
            }
        }
    }

    /// Whether what is on disk does not count any more.
    var hidesDisk = false
    /// What is about to change of the entry on disk.
    private(set) var amendment: EntryAmendment?
    /// What is about to be stored. An entry on disk wins, unless it is hidden.
    private(set) var picture: Picture?

    /// Goes on by a piece of work.
    mutating func apply(_ work: DiskWork, replacing: Bool) {
        switch work {
        case .write(let entry): store(.entry(entry), replacing: replacing)
        case .encode(let image): store(.image(image), replacing: replacing)
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

    private mutating func store(_ new: Picture, replacing: Bool) {
        if replacing { self = PendingEntry(hidesDisk: true) }
        if picture == nil { picture = new }
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
    var cost: Int { picture?.work.cost ?? amendment?.cost ?? 0 }

    /// Takes out what is to be done next. Nothing remains after the last.
    ///
    /// - Parameter replacing: false when a write does not undo what is on disk: that is removed or amended before.
    mutating func takeNext(replacing: Bool) -> (work: DiskWork, isLast: Bool) {
        if let picture, replacing && hidesDisk || !hidesDisk && amendment == nil { return (picture.work, true) }
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
