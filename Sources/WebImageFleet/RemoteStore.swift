public import FoundationEssentials
public import WebImageCache

/// A store of values for a remote cache. Names are short and of ASCII.
///
/// Every call ends by itself within a time that the store knows, and none blocks. Completions are called exactly once, on a thread of
/// the store, and must not block.
protocol RemoteStore: AnyObject, Sendable {
    /// The largest image, in bytes, that is worth storing.
    var mostValueByteCount: Int { get }
    /// The bytes of values that may wait to be written.
    var mostPendingByteCount: Int { get }
    /// Reads a value.
    func read(_ name: String, completion: @escaping @Sendable (RemoteRead) -> Void)
    /// Writes a value that ends after that many seconds. Later calls for the name take effect after it.
    func write(_ value: Data, as name: String, seconds: Int, completion: @escaping @Sendable (_ isStored: Bool) -> Void)
    /// Removes a value.
    func remove(_ name: String)
    /// Reads the end of a value, and its length; nil if there is none, or if the store failed. The default implementation returns nil.
    func readEnd(_ name: String, count: Int, completion: @escaping @Sendable ((end: Data, byteCount: Int)?) -> Void)
    /// Changes bytes of a value and the time until it ends, if it still has these bytes at an offset. The default implementation does
    /// nothing.
    func overwrite(_ pieces: [RemotePiece], of name: String, ifAt offset: Int, _ bytes: Data, seconds: Int)
    /// Reads the generation of all entries (``RemoteGeneration``), which is set to `new` if there is none; nil if the store failed. The
    /// default implementation has one generation for ever.
    func generation(orNew new: String, completion: @escaping @Sendable (String?) -> Void)
    /// The times after which the generation is read again. A second by default.
    var generationTimes: RemoteGeneration.Times { get }
    /// Replaces the generation: false if the store failed.
    func setGeneration(_ new: String, completion: @escaping @Sendable (Bool) -> Void)
    /// The time between a count and its batch, in nanoseconds. Ten seconds by default.
    var countInterval: UInt64 { get }
    /// Adds numbers to sums that all machines have. The default implementation drops them.
    func add(_ counts: [(name: String, count: Int)], completion: @escaping @Sendable (Bool) -> Void)
    /// The circuit breakers; the default implementation has none.
    var circuits: RemoteCircuits { get }
    /// Returns the state of the store. The default implementation throws.
    func report() async throws(WebImageError) -> RemoteStoreReport
    /// Takes a lease, unless another owner has it or the entry exists: true if it was taken; nil if the store failed, or if an owner has
    /// declined.
    func acquire(_ lease: RemoteLease, completion: @escaping @Sendable (Bool?) -> Void)
    /// Renews a lease of this owner: false if it has ended; nil if the store failed.
    func renew(_ lease: RemoteLease, completion: @escaping @Sendable (Bool?) -> Void)
    /// Ends a lease of this owner.
    func release(_ lease: RemoteLease)
    /// Ends a lease of this owner, and lets the others go on without one for a moment. The default implementation only ends it.
    func decline(_ lease: RemoteLease)
}

/// Bytes within a value.
struct RemotePiece: Sendable, Hashable {
    var offset: Int
    var bytes: Data
}

extension RemoteStore {
    func readEnd(_ name: String, count: Int, completion: @escaping @Sendable ((end: Data, byteCount: Int)?) -> Void) {
        completion(nil)
    }

    func overwrite(_ pieces: [RemotePiece], of name: String, ifAt offset: Int, _ bytes: Data, seconds: Int) {}

    func decline(_ lease: RemoteLease) { release(lease) }

    func generation(orNew new: String, completion: @escaping @Sendable (String?) -> Void) { completion("") }

    var generationTimes: RemoteGeneration.Times { RemoteGeneration.Times() }

    func setGeneration(_ new: String, completion: @escaping @Sendable (Bool) -> Void) { completion(false) }

    var countInterval: UInt64 { 10_000_000_000 }

    func add(_ counts: [(name: String, count: Int)], completion: @escaping @Sendable (Bool) -> Void) {
        completion(true)
    }

    var circuits: RemoteCircuits { RemoteCircuits() }

    func report() async throws(WebImageError) -> RemoteStoreReport {
        throw WebImageError(.hostUnavailable, "this store does not report its state")
    }
}

extension WebImageError {
    static var storeUnavailable: WebImageError {
        WebImageError(.hostUnavailable, "the store did not answer, or did not confirm it")
    }
}

/// The outcome of a read.
enum RemoteRead: Sendable, Hashable {
    case value(Data)
    case absent
    /// The store failed, or did not reply in time.
    case failed
}

/// A lease, see ``SingleFlight``.
struct RemoteLease: Sendable, Hashable {
    let name: String
    /// A random text that no other owner has.
    let owner: String
    /// The time after which it ends, in milliseconds.
    let milliseconds: Int
    /// The name of the entry that was not found before; nil if something that is not an entry has the name.
    var absentEntry: String?
}

/// A store that the machines of a fleet share; see ``TieredImageCache``.
public struct RemoteImageStore: Sendable {
    let store: any RemoteStore
    private(set) var seal = RemoteSeal()

    init(_ store: any RemoteStore) { self.store = store }

    /// Returns the same store for machines that know a secret. Values get a message authentication code (HMAC-SHA256), and those without one,
    /// or with another secret's, are not used: whoever can write to the store, but does not know the secret, cannot pass an image off.
    ///
    /// To replace a secret, first give all machines the old one and the new one, in this order, then the new one before the old one, then
    /// only the new one. Machines without a secret use all values.
    ///
    /// - Parameter secrets: at least 16 random bytes each. The first one is used for new values, all of them for those in the store. Empty
    ///   ones are ignored; without any, nothing is verified.
    public func sealed(with secrets: [Data]) -> RemoteImageStore {
        var copy = self
        copy.seal = RemoteSeal(secrets)
        return copy
    }

    /// Creates a store in Redis (6 or newer) or Valkey, or in a cluster of them. Nothing is sent before the first use.
    ///
    /// The server should have a limit of memory and evict entries (`maxmemory` and `maxmemory-policy allkeys-lru`). An ACL user needs the
    /// keys `wi1:*` and the commands `GET`, `SET`, `DEL` and `EVAL`, in a cluster also `CLUSTER SLOTS` and `ASKING`.
    ///
    /// With `rediss:`, connections are encrypted, and the server must have a certificate of a known authority for the host in the URL; in a
    /// cluster, each node for the address that the others name it by. A server whose certificate is refused is not used, like one that is
    /// gone. The files of certificates are read before the initializer returns, which takes some milliseconds.
    ///
    /// - Parameters:
    ///   - url: `redis://[[user]:password@]host[:port][/database]`, or `rediss:`; one node of a cluster is enough. User and password are
    ///     percent-encoded.
    ///   - timeout: the time in seconds after which a read counts as a miss. 20 ms by default.
    ///   - certificates: the authorities and the certificate of this client, for `rediss:`; the system's and none by default.
    /// - Throws: ``WebImageError/Code/invalidURL`` for another URL, and ``WebImageError/Code/secureConnectionFailed`` if a file of
    ///   certificates cannot be used. The error does not contain the password.
    public init(
        redis url: String,
        timeout: Double = 0.02,
        certificates: RemoteStoreCertificates = RemoteStoreCertificates()
    ) throws(WebImageError) {
        var configuration: RedisConfiguration
        do throws(RedisConfiguration.Problem) { configuration = try RedisConfiguration(url: url) } catch {
            throw WebImageError(.invalidURL, "the address of the Redis server cannot be used: \(error.description)")
        }
        if configuration.usesTLS {
            do throws(TLSFailure) { configuration.tls.value = try TLSContext(certificates) } catch {
                throw WebImageError(
                    .secureConnectionFailed,
                    "the certificates cannot be used: \(error.reason)",
                    underlyingError: error
                )
            }
        }
        let seconds = timeout > 0 ? min(timeout, 60) : 0.02
        store = RedisStore(RedisClient(configuration), patience: UInt64(seconds * 1e9))
    }

    /// Makes all entries of the store invisible to all machines. Other machines notice it when they use the store after a second (S3: ten
    /// seconds), or after ten seconds (S3: a minute) if the store does not answer them meanwhile. The values stay in the store until it
    /// evicts them. Nothing else is removed: each machine keeps the entries on its own disk.
    ///
    /// - Throws: ``WebImageError/Code/hostUnavailable`` if the store did not confirm it.
    public func removeAll() async throws(WebImageError) {
        let isSet = await withCheckedContinuation { continuation in
            store.setGeneration(RemoteGeneration.random()) { continuation.resume(returning: $0) }
        }
        guard isSet else { throw .storeUnavailable }
    }
}
