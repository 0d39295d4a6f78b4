import Glibc

/// Possible misbehaviour of a decoder.
enum Hazards {
    static func run(_ name: String) {
        switch name {
        case "segfault": UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
        case "abort": abort()
        case "trap": overflow([Int.max, 1])
        case "stack": _ = recurse(1)
        case "spin": while true { touch(&counter) }
        case "sleep", "greedy": while true { usleep(100_000) }
        case "allocate": allocate(10 << 30)
        case "passwd": openPasswords()
        case "passwd in a thread":
            runThread { _ in
                Hazards.openPasswords()
                return nil
            }
        case "write": if open("/tmp/hazard", O_WRONLY | O_CREAT, 0o600) >= 0 { exit(41) }
        case "socket": withExtendedLifetime(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)) {}
        case "exec":
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
            execv("/bin/true", &arguments)
        case "kill": kill(1, 0)
        // A system call that the sandbox does not list.
        case "sync": sync()
        case "exit": exit(3)
        case "thread": runThread { _ in nil }
        // MADV_GUARD_INSTALL, which newer C libraries request with each thread, and advice that no kernel knows yet.
        case "advice": for advice: Int32 in [102, 103, 1000, .max] { askForGuardPages(advice) }
        case "warning": askForPeer()
        default: Attacks.run(name)
        }
    }

    nonisolated(unsafe) private static var counter = 0

    @inline(never)
    private static func touch(_ number: inout Int) { number &+= 1 }

    @inline(never)
    private static func overflow(_ numbers: [Int]) { counter = numbers.reduce(0) { $0 + $1 } }

    @inline(never)
    private static func recurse(_ depth: Int) -> Int {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { bytes in
            bytes[depth % 4096] = UInt8(truncatingIfNeeded: depth)
            return recurse(depth + 1) + Int(bytes[0])
        }
    }

    /// Like careless code: the allocation is not checked.
    private static func allocate(_ byteCount: Int) {
        let step = 64 << 20
        for _ in 0..<byteCount / step {
            let block = malloc(step)
            memset(block ?? UnsafeMutableRawPointer(bitPattern: 8)!, 1, 4096)
        }
    }

    /// A worker that may read only fonts gets an error, and continues.
    private static func openPasswords() { if open("/etc/passwd", O_RDONLY) >= 0 { exit(41) } }

    private static func askForGuardPages(_ advice: Int32) {
        let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        if madvise(page, 4096, advice) != -1 || errno != EINVAL { exit(53) }
        munmap(page, 4096)
    }

    /// GLib does, before it prints a warning.
    private static func askForPeer() {
        var address = sockaddr()
        var length = socklen_t(MemoryLayout<sockaddr>.size)
        if getpeername(2, &address, &length) != -1 || errno != ENOTSOCK { exit(54) }
    }

    /// Libraries may have their own threads.
    private static func runThread(
        _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    ) {
        var thread = pthread_t()
        guard pthread_create(&thread, nil, body, nil) == 0 else { abort() }
        pthread_join(thread, nil)
    }
}
