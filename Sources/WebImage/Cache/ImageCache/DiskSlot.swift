import FoundationEssentials

/// The work of one key: what runs, and what waits.
struct DiskSlot {
    typealias Completion = DiskBacklog.Completion

    var running: DiskWork?
    var runningCompletions: [Completion] = []
    /// A removal or an amendment to be done before ``waiting``; only when writes do not replace, because such a write
    /// does not undo what was asked for before it.
    var prelude: DiskWork?
    var waiting: DiskWork?
    var waitingCompletions: [Completion] = []
    /// Tells which entry of the list by age is this waiting work's.
    var ticket: UInt64 = 0

    /// What became of work that was taken.
    enum Outcome {
        /// It waits, alone or as a part of what waited.
        case waits
        /// What waits stays as it is; the work is done with it.
        case isCovered
        /// What runs makes it needless.
        case isCoveredByRunning
    }

    /// Adds work to what waits.
    ///
    /// - Parameters:
    ///   - replacing: false when an entry that exists already wins over a write.
    ///   - runningCounts: whether what runs will be there; not so when everything is about to be removed.
    mutating func take(_ work: DiskWork, replacing: Bool, runningCounts: Bool) -> Outcome {
        switch work {
        case .nothing:
            return .isCovered
        case .amend(let amendment):
            return take(amendment, replacing: replacing)
        case .write, .encode:
            if !replacing { return takeUnlessWritten(work, runningCounts: runningCounts) }
        case .remove:
            break
        }
        prelude = nil
        waiting = work
        return .waits
    }

    private mutating func take(_ amendment: EntryAmendment, replacing: Bool) -> Outcome {
        switch waiting {
        case nil, .nothing:
            if case .remove = prelude { return .isCovered }
            waiting = .amend(amendment)
        case .remove:
            return .isCovered
        case .amend(let earlier):
            waiting = .amend(earlier.followed(by: amendment))
        case .write(let entry):
            waiting = .write(entry.amended(by: amendment))
            if !replacing { prelude = prelude?.amended(by: amendment) ?? .amend(amendment) }
        case .encode(let image):
            waiting = .encode(image.amended(by: amendment))
            if !replacing { prelude = prelude?.amended(by: amendment) ?? .amend(amendment) }
        }
        return .waits
    }

    /// A write that gives way to what is there when its turn comes.
    private mutating func takeUnlessWritten(_ work: DiskWork, runningCounts: Bool) -> Outcome {
        let isRunningWrite = runningCounts && running?.isWrite ?? false
        switch waiting {
        case .write, .encode:
            return .isCovered
        case .remove:
            prelude = .remove
        case .amend(let amendment):
            if isRunningWrite { return .isCovered }
            prelude = prelude?.amended(by: amendment) ?? .amend(amendment)
        case nil:
            if isRunningWrite { return .isCoveredByRunning }
        case .nothing:
            break
        }
        waiting = work
        return .waits
    }
}

/// What a read of a key must see.
struct PendingEntry {
    /// What an entry is about to be made of.
    enum Picture {
        /// These bytes.
        case entry(CachedImageData)
        /// This, encoded.
        case image(PendingImage)

        /// The entry; encodes, if that is needed. Nil when that cannot be done.
        var entry: CachedImageData? {
            switch self {
            case .entry(let entry): entry
            case .image(let image): image.encoded()
            }
        }

        /// What is stored with it.
        var extendedData: Data? {
            switch self {
            case .entry(let entry): entry.extendedData
            case .image(let image): image.extendedData
            }
        }

        /// The picture in about 25 bytes.
        var thumbHash: ThumbHash? {
            switch self {
            case .entry(let entry): entry.thumbHash
            case .image(let image): image.thumbHash
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
}
