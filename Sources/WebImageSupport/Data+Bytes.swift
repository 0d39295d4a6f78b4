public import FoundationEssentials

extension Data {
    /// The bytes in memory, with typed throws; `withUnsafeBytes` of Foundation loses the type of the error.
    @inlinable @inline(__always)
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBytes(body)
    }
}
