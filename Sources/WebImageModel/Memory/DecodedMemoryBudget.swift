import FoundationEssentials

/// A limit for the memory of decoded images: those that live, in caches or elsewhere, and what running decodes need.
///
/// Before an image is decoded, its coder estimates the need from the header (``ImageCoder/memoryNeed(of:options:)``). If it does
/// not fit, images are evicted from memory caches, the least valuable first; then the decode waits for others to end, by priority
/// and then in order, without occupying a thread. If no running decode could end, ``policy`` decides: the image is decoded smaller,
/// or its load fails with ``WebImageError/Code/limitExceeded`` for the limit `memoryBudget`. An image that will be transformed is
/// decoded when there is room for that as well. Animation frames that do not fit are skipped, and tried again in the next loop.
///
/// Off by default, and then it costs nothing. While it is on, an image from memory takes no additional lock. Counted are the pixels
/// of decoded, transformed and previewed images and of frames that play, while any of them lives; and the need of each running
/// decode. Not counted: encoded bytes, and the memory for encoding.
public final class DecodedMemoryBudget: Sendable {
    /// The handling of an image for which there is no room and nothing to wait for.
    public enum Policy: Sendable, Hashable {
        /// Decode it smaller, as by ``ImageDecodeOptions/scaleDownLimitBytes``: the image reports it in
        /// ``ImageMetadata/scaleDownLimitBytes``, and the next load tries the full size again. An image that cannot be made small
        /// enough is rejected.
        case shrink
        /// Fail the load.
        case reject
    }

    /// A snapshot of the counted bytes.
    public struct Usage: Sendable, Hashable {
        /// The number of bytes reserved for running decodes.
        public var inFlightByteCount = 0
        /// The number of bytes of live decoded pixels.
        public var heldByteCount = 0
        /// The maximum that both together have reached.
        package var peakByteCount = 0
        /// The number of waiting decodes.
        public var waitingCount = 0

        /// Creates a usage with all values zero.
        package init() {}
    }

    /// The process-wide budget: applies to every decode without another budget, and evicts from all caches.
    public static let shared = DecodedMemoryBudget(isProcessWide: true)

    struct State {
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
    /// The limit, readable without the lock.
    private let limit = Counter()

    /// Creates a separate budget, for managers that are initialised with it.
    ///
    /// - Parameters:
    ///   - byteLimit: the maximum number of bytes; 0 for no limit.
    ///   - policy: the handling of images for which there is no room.
    public convenience init(byteLimit: Int, policy: Policy = .shrink) {
        self.init(isProcessWide: false)
        self.policy = policy
        self.byteLimit = byteLimit
    }

    /// - Parameter queue: runs the work that follows when pixels are released, which may happen on any thread.
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

    /// Indicates whether there is a limit.
    @inline(__always)
    package var isOn: Bool { limit.value > 0 }

    /// The maximum number of bytes; 0, the default, for no limit; negative values count as 0. Images that already live when a limit
    /// is first set are not counted, unless they are in a cache of the process and this is ``shared``; so set it before the first
    /// load.
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
            // The blocks that the buffer pool keeps are not counted.
            if isProcessWide { BufferPool.shared.setCapacity(value > 0 ? min(64 << 20, value / 16) : 64 << 20) }
            perform(steps)
        }
    }

    /// The handling of an image for which there is no room. ``Policy/shrink`` by default.
    public var policy: Policy {
        get { state.withLock { $0.admission.shrinks ? .shrink : .reject } }
        set { perform(change { $0.change { $0.shrinks = newValue == .shrink } }) }
    }

    /// The time in seconds that a load waits for pixels that are shown or used elsewhere, when no running decode could end, from
    /// its first wait. 0 by default: the policy decides at once. Use more if pixels are released soon, as in a server.
    public var patience: Double {
        get { Double(state.withLock { $0.admission.patience }) / 1e9 }
        set {
            let nanoseconds = newValue > 0 ? UInt64(min(newValue, 1e6) * 1e9) : 0
            perform(change { $0.change { $0.patience = nanoseconds } })
        }
    }

    /// A snapshot of the counted bytes.
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
