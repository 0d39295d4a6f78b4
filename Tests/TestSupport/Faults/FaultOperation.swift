import FoundationEssentials
public import WebImageModel

/// A step of the work on a cache directory while its disk fails. Images and their metadata are identified by numbers
/// that are in every byte of them, see ``HammerImage``.
public enum FaultOperation: Sendable, Hashable {
    case store(Int, version: Int)
    /// New validators, as from a 304.
    case amend(Int, round: Int)
    case setExtendedData(Int, round: Int)
    case read(Int)
    case remove(Int)
    /// Counts, lists and verifies.
    case look
    case removeAll
    /// Moves entries in from another directory.
    case migrate([Int])
    /// A new object over the same directory.
    case reopen
    /// Sets a limit of this many bytes; 0 for no limit.
    case limit(Int)
    /// Removes expired entries, after this many seconds.
    case expire(after: Double)

    /// The usual steps: every kind of work on few keys, in a fixed order.
    public static let workload: [FaultOperation] = {
        var steps: [FaultOperation] = []
        for number in 1...5 { steps.append(.store(number, version: 1)) }
        steps += [.read(1), .store(2, version: 2), .amend(1, round: 2), .amend(3, round: 2), .amend(3, round: 3)]
        steps += [.setExtendedData(2, round: 2), .setExtendedData(4, round: 2), .read(3), .remove(5), .look]
        steps += [.store(1, version: 3), .amend(1, round: 4), .reopen, .read(4), .read(1), .read(9)]
        steps += [.migrate([11, 12, 4]), .read(11), .store(12, version: 2), .remove(11), .look]
        steps += [.limit(60_000)]
        for number in 21...30 { steps.append(.store(number, version: 1)) }
        steps += [.read(25), .expire(after: 100), .limit(0), .store(25, version: 2)]
        steps += [.expire(after: 800_000), .removeAll, .store(1, version: 5), .read(1)]
        return steps
    }()

    /// The keys of the usual steps.
    public static let numbers = Array(1...30)
}

/// The checked parts of a cache's entry under a key.
public struct FaultEntry: Sendable, Hashable {
    /// The version of the image.
    public var version: Int
    /// The extended data.
    public var extended: String
    /// The entity tag's number; 0 for none.
    public var round: Int

    /// An entry as it is stored.
    public init(_ number: Int, version: Int) {
        (self.version, extended, round) = (version, "extended \(version)", Self.round(number, version))
    }

    /// Every eighth image has no entity tag.
    static func round(_ number: Int, _ round: Int) -> Int { number % 8 == 0 ? 0 : round }

    /// The entry that a cache returned; nil when any byte of it differs from the stored ones.
    public init?(_ entry: CachedImageData, number: Int) {
        guard entry.data.count >= 16, HammerImage.isWhole(entry.data, number: number) else { return nil }
        let version = entry.data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
        let etag = entry.validators?.etag
        guard HammerImage.isWhole(etag: etag, number: number) else { return nil }
        self.version = Int(version)
        extended = entry.extendedData.map { String(decoding: $0, as: UTF8.self) } ?? ""
        round = etag.flatMap { $0.split(separator: "-").dropFirst().first.flatMap { Int($0) } } ?? 0
    }

    /// The bytes that stand for it.
    public func content(number: Int) -> CachedImageData {
        CachedImageData(
            data: HammerImage.bytes(number, version: version),
            extendedData: Data(extended.utf8),
            validators: Self.validators(number: number, round: round)
        )
    }

    /// Validators of a round.
    public static func validators(number: Int, round: Int) -> CacheValidators? {
        HammerImage.etag(number, version: round, count: 40 + round)
            .flatMap { CacheValidators(etag: $0, lastModified: nil) }
    }
}
