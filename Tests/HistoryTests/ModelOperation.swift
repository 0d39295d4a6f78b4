import TestSupport
import WebImage

/// An action of a caller, or an event. Operations name loads and lists by numbers that count from the youngest, so that
/// a history is still valid when some of its operations are left out.
enum ModelOperation: Sendable {
    struct Load: Sendable {
        var url: Int
        var variant: ModelVariant
        var options: WebImageOptions
        var isLimited = false
        var query: ImageCacheType?
        var store: ImageCacheType?
        var originalQuery: ImageCacheType?
        var originalStore: ImageCacheType?
        /// A Boolean value that indicates whether the caller releases the operation.
        var isDropped = false
        var hearsProgress = false
    }

    enum Trouble: Int, Sendable, CaseIterable {
        case none, badBytes, passing, gone
    }

    case load(Load)
    case cancel(Int)
    case setPriority(Int, LoadPriority)
    case cancelAll
    case forgetFailed(Int?)
    case remove(Int, ModelVariant, ImageCacheType)
    case removeAndWait(Int, ModelVariant)
    case clear(ImageCacheType)
    case memoryWarning
    case limits(cost: Int, count: Int, disk: Int)
    case trim
    case passTime(Double)
    case store(Int, ModelVariant, ImageCacheType, withData: Bool)
    case storeBytes(Int, isBad: Bool, waits: Bool)
    case query(Int, ModelVariant, WebImageOptions, cancels: Bool)
    case contains(Int, ModelVariant, ImageCacheType)
    case publish(Int)
    case trouble(Int, Trouble)
    case refuse(Int, Bool)
    case prefetch([Int], WebImagePrefetcher.Target, LoadPriority)
    case cancelPrefetch(Int)
    case setPrefetchPriority(Int, LoadPriority)
    case suspendPrefetch(Bool)
    case prefetchWidth(Int)
    /// The queues run empty, and only loads from the server are left.
    case settle
    /// Everything runs to its end.
    case drain
}

/// An operation and the steps between it and the next.
struct ModelStep: Sendable, CustomStringConvertible {
    var operation: ModelOperation
    /// Jobs that run after it.
    var jobCount: Int
    /// Decides which.
    var seed: UInt64

    var description: String { "\(operation), then \(jobCount) jobs" }
}

/// The settings of one history.
struct ModelSetup: Sendable {
    var urlCount: Int
    /// Nothing is ever evicted or refused for lack of memory, so a stored entry must be found.
    var isRoomy: Bool
    var memoryCost: Int
    var memoryCount: Int
    var diskSize: Int
    var diskWidth: Int
    var codingWidth: Int
    var loaderWidth: Int
    var prefetchWidth: Int
    var undecodedByteLimit: Int
    var maxPendingWriteBytes: Int
    var keepsExisting: Bool
    var usesWeakCache: Bool
    var hasDelegate: Bool
    var failedLifetime: Double?
    /// Cancelled transfers end later, and perhaps with a result.
    var endsLate: Bool
    /// Transfers end twice, and report progress afterwards.
    var isRude: Bool
    /// In how many of 16 places where a job may be interrupted something else runs meanwhile.
    var pauseRate: Int

    init(_ random: inout SeededGenerator) {
        urlCount = [1, 2, 4, ModelKeys.urlCount][random.below(4)]
        isRoomy = random.below(3) == 0
        memoryCost = [0, 64, 200, 1 << 20][random.below(4)]
        memoryCount = [0, 0, 2, 5][random.below(4)]
        diskSize = [0, 100, 300][random.below(3)]
        diskWidth = 1 + random.below(4)
        codingWidth = 1 + random.below(3)
        loaderWidth = 1 + random.below(4)
        prefetchWidth = 1 + random.below(4)
        undecodedByteLimit = random.below(4) == 0 ? 1 : 64 << 20
        maxPendingWriteBytes = random.below(4) == 0 ? 60 : 64 << 20
        keepsExisting = random.below(6) == 0
        usesWeakCache = random.below(4) == 0
        hasDelegate = random.below(5) == 0
        failedLifetime = random.below(4) == 0 ? 100 : nil
        endsLate = random.below(2) == 0
        isRude = random.below(4) == 0
        pauseRate = [0, 2, 6][random.below(3)]
        guard isRoomy else { return }
        (memoryCost, memoryCount, diskSize) = (1 << 20, 0, 0)
        (maxPendingWriteBytes, keepsExisting) = (64 << 20, false)
    }
}
