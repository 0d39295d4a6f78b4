import FoundationEssentials

/// A promise of how much memory decoded pictures take: those that live, in caches or elsewhere, and what decodes under way need.
///
/// Before a picture is decoded, its coder tells from the header what that takes (``ImageCoder/memoryNeed(of:options:)``). If it does
/// not fit, images in memory caches have to go, those first that are worth least; then the decode waits for others to end, by priority
/// and then in order, without holding a thread. When nothing is under way that could end, ``policy`` decides: the picture is decoded
/// smaller, or its load ends with ``WebImageError/Code/limitExceeded`` for the limit `memoryBudget`. A picture that is going to be
/// transformed is decoded when there is room for that as well. Frames of animations for which there is none are passed over, and tried
/// again when they come round.
///
/// Off by default, and then it costs nothing. While it is on, an image from memory takes no lock more. What is counted: pixels of
/// decoded, transformed and previewed pictures and of frames that play, while any of them lives; while a decode is under way, its need.
/// Not counted: encoded bytes, and what encoding takes.
public final class DecodedMemoryBudget: Sendable {
    /// What becomes of a picture for which there is no room and nothing to wait for.
    public enum Policy: Sendable, Hashable {
        /// It is decoded smaller, as by ``ImageDecodeOptions/scaleDownLimitBytes``: ``ImageMetadata/scaleDownLimitBytes`` tells so,
        /// and the next load tries again for all of it. What cannot be made small enough is rejected.
        case shrink
        /// Its load fails.
        case reject
    }

    /// What is counted at a moment.
    public struct Usage: Sendable, Hashable {
        /// Bytes that are reserved for decodes under way.
        public var inFlightByteCount = 0
        /// Bytes of decoded pixels that live.
        public var heldByteCount = 0
        /// The most bytes that both came to together.
        public var peakByteCount = 0
        /// Decodes that wait.
        public var waitingCount = 0

        /// All zero.
        public init() {}
    }

    /// The budget of the process: holds for everything that decodes and has no other, and evicts from all caches.
    public static let shared = DecodedMemoryBudget(isProcessWide: true)

    package struct State {
        var admission: MemoryAdmission
        var waiting: [UInt64: Waiting] = [:]
        var holders: [WeakHolder] = []
        var reclaims: [UInt64: @Sendable () -> Void] = [:]
        var lastReclaim: UInt64 = 0
    }

    struct WeakHolder: Sendable {
        weak var holder: (any PixelHolder)?
    }

    let state: Lock<State>
    package let isProcessWide: Bool
    let queue: WorkQueue
    let delays: DelaySource
    let clock: ClockSource
    /// The limit, to be read without the lock.
    private let limit = Counter()

    /// A budget of one's own, for managers that are made with it.
    ///
    /// - Parameters:
    ///   - byteLimit: the most bytes; 0 for no limit.
    ///   - policy: what becomes of pictures for which there is no room.
    public convenience init(byteLimit: Int, policy: Policy = .shrink) {
        self.init(isProcessWide: false)
        self.policy = policy
        self.byteLimit = byteLimit
    }

    /// - Parameter queue: where is gone on when pixels are let go of wherever that may be.
    init(
        isProcessWide: Bool,
        queue: WorkQueue = CodingQueue.shared,
        delays: DelaySource = .system,
        clock: ClockSource = .system
    ) {
        self.isProcessWide = isProcessWide
        self.queue = queue
        self.delays = delays
        self.clock = clock
        state = Lock(State(admission: MemoryAdmission(limit: 0, shrinks: true)))
    }

    deinit { if isOn { BufferPool.shared.wantExact(false) } }

    /// Whether there is a limit.
    @inline(__always)
    package var isOn: Bool { limit.value > 0 }

    /// The most bytes; 0, the default, for no limit, and less counts as 0. What lives when a limit is set first is not counted, unless
    /// it is in a cache of the process and this is ``shared``; so set it before the first load.
    public var byteLimit: Int {
        get { limit.value }
        set {
            let value = min(max(newValue, 0), 1 << 50)
            var former = 0
            let steps = change { admission in
                admission.change { $0.limit = value }
            } also: {
                former = limit.value
                limit.add(value - former)
            }
            // A bigger block would take more than was reserved.
            if (former > 0) != (value > 0) { BufferPool.shared.wantExact(value > 0) }
            // What the pool of buffers keeps is memory that nobody counts.
            if isProcessWide { BufferPool.shared.setCapacity(value > 0 ? min(64 << 20, value / 16) : 64 << 20) }
            perform(steps)
        }
    }

    /// What becomes of a picture for which there is no room. ``Policy/shrink`` by default.
    public var policy: Policy {
        get { state.withLock { $0.admission.shrinks ? .shrink : .reject } }
        set { perform(change { $0.change { $0.shrinks = newValue == .shrink } }) }
    }

    /// Seconds for which a load waits for pixels that are shown or used elsewhere, when no decode is under way that could end, from when it
    /// first has to. 0 by default: it is decided at once. More where pictures are let go of soon, as by a server.
    public var patience: Double {
        get { Double(state.withLock { $0.admission.patience }) / 1e9 }
        set {
            let nanoseconds = newValue > 0 ? UInt64(min(newValue, 1e6) * 1e9) : 0
            perform(change { $0.change { $0.patience = nanoseconds } })
        }
    }

    /// What is counted now.
    public var usage: Usage {
        state.withLock { state in
            var usage = Usage()
            usage.inFlightByteCount = state.admission.inFlight
            usage.heldByteCount = state.admission.held
            usage.peakByteCount = state.admission.peak
            usage.waitingCount = state.admission.waitingCount
            return usage
        }
    }
}
