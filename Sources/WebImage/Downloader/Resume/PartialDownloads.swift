import FoundationEssentials
import Glibc

/// The parts of bodies that broke off, in a directory: one file each, which one process at a time has open.
///
/// Files are only touched on ``queue``. Whether there is anything for a request is known without them once the directory has been
/// read, so downloads that nothing is kept for do not wait.
final class PartialDownloads: Sendable {
    /// How much is kept, and for how long.
    struct Limits: Sendable, Hashable {
        /// Bytes of all files together.
        var byteCount = 64 << 20
        /// Seconds after the last write.
        var age = 7.0 * 86_400
    }

    struct State {
        var limits: Limits
        /// Sizes of all files by name; nil until the directory has been read.
        var sizes: [String: Int]?
        /// The hashes of their URLs, and of some that are gone.
        var urls: Set<UInt64> = []
        /// Those that are open in here.
        var active: Set<String> = []
        /// When the directory was last read, in monotonic nanoseconds.
        var readAt: UInt64 = 0
        var isReading = false
        var jumps: ClockJumpGuard
    }

    /// For how many nanoseconds a reading of the directory holds: other processes leave parts there, too.
    static let refreshInterval: UInt64 = 10_000_000_000
    private static let sharedQueue = WorkQueue(name: "webimage-partial", width: 1)

    let directory: String
    let queue: WorkQueue
    let clock: ClockSource
    let calls: FileCalls
    let state: Lock<State>

    /// - Parameter queue: runs one job at a time.
    init(
        directory: String,
        limits: Limits = Limits(),
        clock: ClockSource = .system,
        calls: FileCalls = .system,
        queue: WorkQueue? = nil
    ) {
        self.directory = CacheDirectory.absolute(directory)
        self.clock = clock
        self.calls = calls
        self.queue = queue ?? Self.sharedQueue
        state = Lock(State(limits: limits, jumps: ClockJumpGuard(clock)))
    }

    /// A smaller bound makes the oldest go at once.
    var limits: Limits {
        get { state.withLock { $0.limits } }
        set {
            let isSmaller = state.withLock { state -> Bool in
                defer { state.limits = newValue }
                return newValue.byteCount < state.limits.byteCount || newValue.age < state.limits.age
            }
            if isSmaller { queue.submit { self.tidyUp() } }
        }
    }

    // MARK: From any thread

    /// Looks for a part of what `request` asks for. It is its caller's alone as long as anybody holds its writer.
    ///
    /// - Parameters:
    ///   - limit: most bytes of it.
    ///   - completion: called on the store's queue with what there is; not called when the answer is false.
    /// - Returns: false when there is nothing, which is known at once.
    func claim(
        _ request: DownloadRequest,
        limit: Int,
        completion: @escaping @Sendable (PartialDownload?) -> Void
    ) -> Bool {
        let now = clock.monotonicNanoseconds()
        let (isNothing, mustRead) = state.withLock { state -> (Bool, Bool) in
            // Where nothing is to be kept nothing is used, and what there is goes.
            let isOff = state.limits.byteCount <= 0
            let isDue = state.sizes == nil ? isOff : now &- state.readAt > Self.refreshInterval
            let mustRead = isDue && !state.isReading
            if mustRead { state.isReading = true }
            return (isOff || state.sizes?.isEmpty ?? false, mustRead)
        }
        if mustRead { queue.submit { self.tidyUp() } }
        guard !isNothing else { return false }
        // A key takes longer to make than most downloads can spare.
        let url = PartialKey.hash(of: request.url.absoluteString)
        guard state.withLock({ $0.sizes == nil || $0.urls.contains(url) }), let key = PartialKey(request) else {
            return false
        }
        let name = key.fileName
        guard state.withLock({ $0.sizes.map { $0[name] != nil } ?? true }) else { return false }
        queue.submit { completion(self.open(key, name, limit: limit)) }
        return true
    }

    /// Keeps a body that begins anew.
    func writer(for head: PartialHead) -> PartialWriter { PartialWriter(head: head, store: self) }

    /// Closes a file that a writer lets go of.
    func close(_ file: PartialFile, name: String) {
        let handle = UncheckedBox(file)
        queue.submit {
            handle.value.close()
            self.noteClose(of: name)
        }
    }

    /// Removes all parts that nobody writes.
    ///
    /// - Parameter completion: called on the store's queue.
    func removeAll(completion: (@Sendable () -> Void)? = nil) {
        queue.submit {
            self.readDirectory()
            let names = self.state.withLock { state in
                (state.sizes ?? [:]).keys.filter { !state.active.contains($0) }
            }
            let directory = try? CacheDirectory(path: self.directory).open()
            for name in names {
                directory?.remove(name)
                self.noteRemoval(of: name)
            }
            completion?()
        }
    }

    // MARK: On the queue

    private func open(_ key: PartialKey, _ name: String, limit: Int) -> PartialDownload? {
        if state.withLock({ $0.sizes == nil }) { readDirectory() }
        guard state.withLock({ $0.sizes?[name] != nil }), let directory = try? CacheDirectory(path: directory).open()
        else { return nil }
        switch PartialFile.open(
            name,
            in: directory,
            key: key,
            limit: limit,
            calls: calls,
            isExpired: expiry(now: clock.wallTime())
        ) {
        case .part(let file, let head, let bytes):
            state.withLock { state in
                state.active.insert(name)
                state.sizes?[name] = head.count + PartialHead.byteCount
            }
            return PartialDownload(
                head: head,
                bytes: bytes,
                writer: PartialWriter(head: head, file: file, store: self)
            )
        case .removed:
            noteRemoval(of: name)
            return nil
        case .none:
            return nil
        }
    }

    /// A file for a new part; nil when somebody else writes it.
    func makeFile(_ name: String) throws(SystemCallError) -> PartialFile? {
        let directory = try CacheDirectory(path: directory).prepare()
        // Parts can be kept without a tag as well.
        try? CacheDirectory.writeTag(in: directory)
        guard let file = try PartialFile.create(name, in: directory, calls: calls) else { return nil }
        state.withLock { _ = $0.active.insert(name) }
        return file
    }

    /// A file is not written any more.
    func noteClose(of name: String) { state.withLock { _ = $0.active.remove(name) } }

    /// A file is gone.
    func noteRemoval(of name: String) {
        state.withLock { state in
            state.active.remove(name)
            state.sizes?[name] = nil
        }
    }
}

/// Carries something to a job of a queue.
private struct UncheckedBox<Value>: @unchecked Sendable {
    // Sendable because whoever gives it away has it no longer.
    let value: Value
    init(_ value: Value) { self.value = value }
}
