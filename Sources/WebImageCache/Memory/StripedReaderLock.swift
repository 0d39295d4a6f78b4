import CLinux
import Glibc

/// Striped reader locks: a reader takes the lock of its processor, a writer takes all of them. Each lock has a short list of the
/// entries that were hit under it.
///
/// Readers on different processors share no cache line, so they do not slow each other down. A write takes one lock per processor
/// (16 at most).
struct StripedReaderLock: ~Copyable {
    /// A reader's stripe: a lock and the hits noted under it since they were last taken.
    struct Stripe {
        /// Layout: the mutex at 0, the number of hits at 64, the number of hits to skip at 72, the hits from 128.
        fileprivate let base: UnsafeMutableRawPointer

        private var mutex: UnsafeMutablePointer<pthread_mutex_t> {
            base.assumingMemoryBound(to: pthread_mutex_t.self)
        }
        private var hitCount: UnsafeMutablePointer<Int> { (base + 64).assumingMemoryBound(to: Int.self) }
        private var hits: UnsafeMutablePointer<UInt32> { (base + 128).assumingMemoryBound(to: UInt32.self) }

        fileprivate func initialize() {
            (base + 0).bindMemory(to: pthread_mutex_t.self, capacity: 1).initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
            (base + 64).bindMemory(to: Int.self, capacity: 2).initialize(repeating: 0, count: 2)
            let hits = (base + 128).bindMemory(to: UInt32.self, capacity: StripedReaderLock.maximumHits)
            hits.initialize(repeating: 0, count: StripedReaderLock.maximumHits)
        }

        fileprivate func destroy() { pthread_mutex_destroy(mutex) }

        @inline(__always) func lock() { pthread_mutex_lock(mutex) }
        @inline(__always) func unlock() { pthread_mutex_unlock(mutex) }

        private var skips: UnsafeMutablePointer<Int> { (base + 72).assumingMemoryBound(to: Int.self) }

        /// Skips the next `count` hits instead of noting them.
        func skip(_ count: Int) { skips.pointee = count }

        /// Notes a hit; true if the list is now full and should be taken.
        @inline(__always)
        func note(_ id: UInt32) -> Bool {
            if skips.pointee > 0 {
                skips.pointee -= 1
                return false
            }
            // If no thread could take the list, it starts over: some hits are forgotten, but no reader waits.
            if hitCount.pointee == StripedReaderLock.maximumHits { hitCount.pointee = 0 }
            hits[hitCount.pointee] = id
            hitCount.pointee += 1
            return hitCount.pointee == StripedReaderLock.maximumHits
        }

        /// Passes the hits to `body`, the oldest first, and clears the list. Call with the lock held.
        func takeHits(_ body: (UnsafeBufferPointer<UInt32>) -> Void) {
            body(UnsafeBufferPointer(start: hits, count: hitCount.pointee))
            hitCount.pointee = 0
            skips.pointee = 0
        }
    }

    fileprivate static let maximumHits = 64
    private static let stride = 512
    private let base: UnsafeMutableRawPointer
    private let mask: Int

    /// - Parameter wanted: The number of stripes; one per processor if nil.
    init(stripeCount wanted: Int? = nil) {
        let processors = min(max(wanted ?? sysconf(Int32(_SC_NPROCESSORS_CONF)), 1), 16)
        var count = 1
        while count < processors { count *= 2 }
        mask = count - 1
        base = .allocate(byteCount: count * Self.stride, alignment: 128)
        for index in 0..<count { Stripe(base: base + index * Self.stride).initialize() }
    }

    deinit {
        for index in 0...mask { Stripe(base: base + index * Self.stride).destroy() }
        base.deallocate()
    }

    /// The stripe of the processor that the caller runs on. The thread may be moved to another one at any time, which only costs
    /// speed.
    @inline(__always)
    var current: Stripe { Stripe(base: base + (Int(webimage_current_processor()) & mask) * Self.stride) }

    /// Runs `body` with all readers locked out.
    func withAllLocked<Result>(_ body: () -> Result) -> Result {
        for index in 0...mask { stripe(index).lock() }
        defer { for index in 0...mask { stripe(index).unlock() } }
        return body()
    }

    /// Passes the hits of all stripes to `body`. Call within ``withAllLocked(_:)``.
    func takeAllHits(_ body: (UnsafeBufferPointer<UInt32>) -> Void) {
        for index in 0...mask { stripe(index).takeHits(body) }
    }

    private func stripe(_ index: Int) -> Stripe { Stripe(base: base + index * Self.stride) }
}
