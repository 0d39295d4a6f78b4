public import FoundationEssentials

/// Makes the bytes that go to disk in place of those that were loaded, for example in a smaller format.
///
/// Asked once for each entry that is about to be written, on a decode thread (the caller's, for what a load with
/// ``WebImageOptions/queryDiskDataSync`` makes in the call).
public final class CacheSerializer: Sendable {
    private let body: @Sendable (Image?, Data?, URL?) -> Data?

    /// A serializer of a closure.
    ///
    /// - Parameter body: gets the decoded image (nil when less than the whole picture was decoded), its encoded bytes (nil
    ///   for an image that was made, by a transformer for example), and what was loaded. A nil answer means what is stored without a serializer.
    public init(_ body: @escaping @Sendable (_ image: Image?, _ data: Data?, _ url: URL?) -> Data?) { self.body = body }

    /// The bytes to store, or nil.
    public func data(for image: Image?, data: Data?, url: URL?) -> Data? { body(image, data, url) }
}
