import FoundationEssentials

extension Data {
    /// `withUnsafeBytes` for closures that throw the library's error.
    func withRawBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(WebImageError) -> Value
    ) throws(WebImageError) -> Value {
        let result: Result<Value, WebImageError> = withUnsafeBytes { bytes in
            do throws(WebImageError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
