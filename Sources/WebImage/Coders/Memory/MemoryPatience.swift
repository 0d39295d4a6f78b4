/// How long a load waits for pixels that others hold: its requests, of which there may be several, all together.
final class MemoryPatience: Sendable {
    /// When it began to wait.
    private let start = Lock<UInt64?>(nil)

    /// Nanoseconds that are left of so many, which run from the first time that this is called.
    func left(of whole: UInt64, by clock: ClockSource) -> UInt64 {
        let now = clock.monotonicNanoseconds()
        let start = start.withLock { begun in
            if begun == nil { begun = now }
            return begun ?? now
        }
        let passed = now > start ? now - start : 0
        return whole > passed ? whole - passed : 0
    }
}
