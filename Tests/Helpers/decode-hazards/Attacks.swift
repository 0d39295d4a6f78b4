import CIsolation
import Glibc

/// Attacks of a compromised decoder on its parent and on memory.
enum Attacks {
    /// Requested before the sandbox.
    private static let parent = getppid()
    /// Commands that have other processes signalled, or report their actions: F_SETOWN, F_SETSIG, F_SETLEASE, F_NOTIFY.
    private static let commands: [Int32] = [8, 10, 1024, 1026]

    private typealias SetLimits =
        @convention(c) (pid_t, Int32, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?) -> Int32
    private typealias Allocate = @convention(c) (Int32, Int32, Int, Int) -> Int32
    private typealias SignalThread = @convention(c) (pid_t, pid_t, Int32) -> Int32
    /// Missing in the module of the C library.
    private static let setLimits = unsafeBitCast(dlsym(nil, "prlimit64"), to: SetLimits?.self)
    private static let allocate = unsafeBitCast(dlsym(nil, "fallocate"), to: Allocate?.self)
    private static let signalThread = unsafeBitCast(dlsym(nil, "tgkill"), to: SignalThread?.self)

    static func prepare() {
        guard parent > 0, setLimits != nil, signalThread != nil, allocate != nil else { exit(47) }
    }

    /// Starts a thread that stays.
    static func startThread() {
        var thread = pthread_t()
        guard pthread_create(&thread, nil, { _ in while true { pause() } }, nil) == 0 else { exit(48) }
    }

    static func run(_ name: String) {
        switch name {
        case "code": mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        case "memory to code":
            let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            mprotect(page, 4096, PROT_READ | PROT_EXEC)
        case "limits of the parent":
            var limit = rlimit(rlim_cur: 3, rlim_max: 3)
            _ = setLimits?(parent, 7 /* RLIMIT_NOFILE */, &limit, nil)
        case "signal to the parent": _ = signalThread?(parent, parent, SIGTERM)
        case "descriptor commands": tryCommands()
        case "leftovers": lookForLeftovers()
        case "processor time": liftProcessorTime()
        case "hoard": hoardMemory()
        default: break
        }
    }

    private static func tryCommands() {
        for descriptor in [Int32(webimage_worker_socket), Int32(webimage_worker_bytes)] {
            for command in commands {
                if fcntl(descriptor, command, parent) != -1 || errno != EPERM { exit(42) }
            }
        }
    }

    /// The signal of the soft limit can be caught: only the hard limit certainly ends a process.
    private static func liftProcessorTime() {
        var limit = rlimit()
        guard setLimits?(0, 0 /* RLIMIT_CPU */, nil, &limit) == 0, limit.rlim_max < 1 << 32 else { exit(49) }
        limit.rlim_max += 1
        if setLimits?(0, 0, &limit, nil) == 0 { exit(49) }
    }

    /// Unmapped memory counts for no limit of address space: only the number of pieces is limited, and the size of
    /// each.
    private static func hoardMemory() {
        var pieces: [Int32] = []
        while case let piece = webimage_memory_create(1 << 20), piece >= 0 { pieces.append(piece) }
        if pieces.count > 16 { exit(50) }
        // More than the biggest image takes.
        if let piece = pieces.first, ftruncate(piece, 1800 << 20) == 0 { exit(51) }
        // Pages without a mapping.
        if let piece = pieces.last, allocate?(piece, 0, 0, 1 << 20) == 0 { exit(52) }
        for piece in pieces { close(piece) }
    }

    /// Reused memory is zeroed, also where no library requests that.
    private static func lookForLeftovers() {
        for byteCount in [2000, 100_000, 900_000, 3_000_000] {
            let blocks = (0..<4).map { _ in malloc(byteCount) }
            for block in blocks { if let block { memset(block, 0x5A, byteCount) } }
            for block in blocks { free(block) }
            for _ in 0..<4 {
                guard let block = malloc(byteCount) else { exit(43) }
                if UnsafeRawBufferPointer(start: block, count: byteCount).contains(where: { $0 != 0 }) { exit(44) }
            }
        }
    }
}
