extension DiskCache {
    /// Goes on with a walk through the directory that a store has begun, for a bounded time. Whether more is to be walked.
    ///
    /// A store that exceeds the size limit looks at a bounded number of files only; the rest is looked at here, on a thread
    /// of the cache. As long as a store walks through the whole directory there is nothing to go on with.
    func continueScan() -> Bool { false }
}
