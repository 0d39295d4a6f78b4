import WebImageCache

/// The names of a remote cache's entries, which programs of several machines and versions share.
///
/// A name is `wi1:{HASH}`: a version, and 128 bits of a hash of generation, namespace and key, in braces so that a cluster puts all names
/// of one entry on the same node. A namespace separates loads that must not share entries, a generation those before and after a removal of
/// all entries. Different entries may have the same hash: the full key is in the value and is compared.
struct RemoteNames: Sendable, Hashable {
    let namespace: String
    /// The generation, see ``RemoteGeneration``.
    var generation = ""

    /// The name of the generation number.
    static let generation = "wi1:gen"
    /// The name of the sums of what all machines have counted.
    static let statistics = "wi1:stats"

    /// The name of an entry.
    func entry(forKey key: String) -> String { "wi1:{\(hash(key))}" }

    /// The name of the lease of an entry; see ``SingleFlight``.
    func lease(forKey key: String) -> String { entry(forKey: key) + ":l" }

    /// The length separates namespace and key: no other pair has the same text. A generation is hexadecimal.
    private func hash(_ key: String) -> String {
        Hashing.md5Hex("\(generation)/\(namespace.utf8.count) \(namespace)\n\(key)")
    }
}

/// The time for which an entry stays in a remote cache.
enum RemoteLifetime {
    /// The shortest and the longest time in seconds.
    static let bounds = 10.0...(30 * 86_400.0)

    /// Returns the time in whole seconds: the time for which the entry can be used, within the bounds, with a random change of up to a
    /// tenth, so that entries that were stored together do not end together. Without a usable time, the longest.
    ///
    /// - Parameters:
    ///   - usable: the time for which the entry is fresh or may be used stale, in seconds.
    ///   - random: a value in 0...1, uniformly distributed.
    static func seconds(usable: Double?, random: Double) -> Int {
        let usable = usable.map { $0.isNaN ? bounds.lowerBound : $0 } ?? bounds.upperBound
        let bounded = min(max(usable, bounds.lowerBound), bounds.upperBound)
        return Int(bounded * (0.9 + 0.2 * min(max(random, 0), 1)))
    }
}
