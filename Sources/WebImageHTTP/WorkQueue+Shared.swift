extension WorkQueue {
    /// The queue that reads files outside of caches.
    package static let fileReading = WorkQueue(name: "webimage-file", width: 4)
}
