/// An object that keeps decoded pixels which can be made again, such as a cache. A ``DecodedMemoryBudget`` evicts from it.
package protocol PixelHolder: AnyObject, Sendable {
    /// Releases pixels until enough are freed, or none are left. Called on any thread, without a lock.
    ///
    /// - Parameter missing: returns the number of bytes still to be freed; 0 or less for enough. Pixels that are also used
    ///   elsewhere do not free memory.
    func makeRoom(_ missing: () -> Int)
}
