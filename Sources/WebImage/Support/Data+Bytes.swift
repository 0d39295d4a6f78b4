package import FoundationEssentials

extension Data {
    /// The bytes in memory, with typed throws; `withUnsafeBytes` of Foundation loses the type of the error.
    @inline(__always)
    package func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(WebImageError) -> Result
    ) throws(WebImageError) -> Result {
        try bytes.withUnsafeBytes(body)
    }
}
