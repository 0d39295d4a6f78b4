import Glibc

/// The kernel's reports of memory pressure: triggers on a PSI file, waited for with `poll`.
package final class PressureStallSource: MemoryPressureSource {
    private let some: Int32
    private let full: Int32
    private let wakeRead: Int32
    private let wakeWrite: Int32

    /// Opens the file of the process's control group if that has a limit, else the machine's; nil if neither accepts a trigger.
    @Sendable static func open() -> (any MemoryPressureSource)? {
        let group = SystemMemory().controlGroupPressurePath
        return group.flatMap { open(path: $0) } ?? open(path: "/proc/pressure/memory")
    }

    /// Sets triggers on `path`; nil if it accepts none.
    static func open(path: String) -> PressureStallSource? {
        let some = trigger(path, ["some 150000 1000000", "some 300000 2000000"])
        guard some >= 0 else { return nil }
        let full = trigger(path, ["full 100000 1000000", "full 200000 2000000"])
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            for descriptor in [some, full] where descriptor >= 0 { close(descriptor) }
            return nil
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return PressureStallSource(some: some, full: full, wakeRead: ends[0], wakeWrite: ends[1])
    }

    private init(some: Int32, full: Int32, wakeRead: Int32, wakeWrite: Int32) {
        self.some = some
        self.full = full
        self.wakeRead = wakeRead
        self.wakeWrite = wakeWrite
    }

    deinit {
        for descriptor in [some, full, wakeRead, wakeWrite] where descriptor >= 0 { close(descriptor) }
    }

    package func next() -> MemoryPressureLevel? {
        let priority = Int16(POLLPRI)
        while true {
            // `poll` ignores negative descriptors.
            var waits = [
                pollfd(fd: wakeRead, events: Int16(POLLIN), revents: 0),
                pollfd(fd: full, events: priority, revents: 0),
                pollfd(fd: some, events: priority, revents: 0),
            ]
            if poll(&waits, nfds_t(waits.count), -1) < 0 {
                if errno == EINTR || errno == EAGAIN { continue }
                return nil
            }
            if waits[0].revents != 0 { return nil }
            if waits[1].revents & priority != 0 { return .full }
            if waits[2].revents & priority != 0 { return .some }
            // The only remaining case is an error: the control group was removed.
            return nil
        }
    }

    package func stop() {
        var byte: UInt8 = 1
        // Cannot block: nothing else is ever written.
        while write(wakeWrite, &byte, 1) < 0, errno == EINTR {}
    }

    /// Opens `path` and writes the first of `triggers` that is accepted: without privileges the kernel only accepts windows that
    /// are multiples of two seconds.
    private static func trigger(_ path: String, _ triggers: [String]) -> Int32 {
        for trigger in triggers {
            let descriptor = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { return -1 }
            let bytes = Array(trigger.utf8) + [0]
            if isKernelFile(descriptor), write(descriptor, bytes, bytes.count) == bytes.count { return descriptor }
            close(descriptor)
        }
        return -1
    }

    /// Returns whether the file is a PSI file. A plain file would accept the text and never report anything, so its content is
    /// checked.
    private static func isKernelFile(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size == 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: 5)
        return pread(descriptor, &bytes, 5, 0) == 5 && bytes == Array("some ".utf8)
    }
}
