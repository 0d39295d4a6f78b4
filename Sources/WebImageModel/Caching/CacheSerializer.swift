public import FoundationEssentials

/// Produces the bytes to write to disk in place of the loaded ones, for example in a smaller format.
///
/// Called once for each entry that is about to be written, on a decode thread (on the caller's thread for what a load with
/// ``WebImageOptions/queryDiskDataSync`` does synchronously).
public final class CacheSerializer: Sendable {
    private let body: @Sendable (Image?, Data?, URL?) -> Data?

    /// Creates a serializer from a closure.
    ///
    /// - Parameter body: gets the decoded image (nil if less than the whole image was decoded), its encoded bytes (nil for a
    ///   generated image, for example from a transformer), and the URL that was loaded. If it returns nil, the entry is stored as
    ///   without a serializer.
    public init(_ body: @escaping @Sendable (_ image: Image?, _ data: Data?, _ url: URL?) -> Data?) { self.body = body }

    /// Returns the bytes to store, or nil.
    package func data(for image: Image?, data: Data?, url: URL?) -> Data? { body(image, data, url) }
}
