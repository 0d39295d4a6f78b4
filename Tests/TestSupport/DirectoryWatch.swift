import CTestSupport
import Glibc

/// Reports writes to the files of a directory.
final class DirectoryWatch: Sendable {
    private let watch: Int32

    /// Watches from now on; nil on failure.
    init?(_ path: String) {
        watch = ctest_watch_directory(path)
        if watch < 0 { return nil }
    }

    deinit { close(watch) }

    /// Suspends until the condition holds, which is checked now and after each change; false when a process ends first,
    /// or after `seconds`.
    func wait(
        seconds: Int = 15,
        orEndOf pid: pid_t,
        until condition: @escaping @Sendable () -> Bool
    ) async -> Bool {
        await valueOnThread { self.block(seconds: seconds, orEndOf: pid, until: condition) }
    }

    private func block(seconds: Int, orEndOf pid: pid_t, until condition: () -> Bool) -> Bool {
        let process = ctest_open_process(pid)
        defer { if process >= 0 { close(process) } }
        let deadline = ContinuousClock.now + .seconds(seconds)
        while !condition() {
            let left = ContinuousClock.now.duration(to: deadline).components
            let milliseconds = left.seconds * 1_000 + left.attoseconds / 1_000_000_000_000_000
            guard milliseconds > 0, ctest_wait_for_change(watch, process, Int32(milliseconds) + 1) >= 0 else {
                return condition()
            }
        }
        return true
    }
}
