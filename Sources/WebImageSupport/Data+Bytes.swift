public import FoundationEssentials

extension Data {
    /// Calls `body` with the bytes in memory, with typed throws; Foundation's `withUnsafeBytes` loses the type of the error.
    @inlinable @inline(__always)
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBytes(body)
    }
}
