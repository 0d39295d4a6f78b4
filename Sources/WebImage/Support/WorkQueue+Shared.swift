import Glibc

extension WorkQueue {
    /// Decoding and encoding: one thread per core.
    static let decoding = WorkQueue(name: "webimage-decode", width: max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1))
    /// Reading files that are not of a cache.
    static let fileReading = WorkQueue(name: "webimage-file", width: 4)
}
