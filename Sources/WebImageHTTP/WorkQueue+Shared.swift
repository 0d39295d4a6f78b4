extension WorkQueue {
    /// Reading files that are not of a cache.
    static let fileReading = WorkQueue(name: "webimage-file", width: 4)
}
