/// Something that keeps decoded pixels which can be made again, as a cache does. A ``DecodedMemoryBudget`` asks it for room.
package protocol PixelHolder: AnyObject, Sendable {
    /// Releases pixels until enough are freed, or none are left. Called on any thread, without a lock.
    ///
    /// - Parameter missing: returns how many bytes are still to be freed; 0 or less for enough. What others use too frees nothing.
    func makeRoom(_ missing: () -> Int)
}
