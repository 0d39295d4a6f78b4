import Glibc

/// The threads that decode, transform and encode: as many as the machine has processors, for the whole process.
enum CodingQueue {
    static let shared = WorkQueue(name: "webimage.coding", width: processorCount)

    /// Processors that are online, at least 1.
    static var processorCount: Int { max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1) }
}
