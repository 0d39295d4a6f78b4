import FoundationEssentials

/// What an original on disk must be to serve a load under a policy: another manager may have stored it. Pure.
///
/// Pixels, frames and time are bounded when it is decoded.
struct EntryRule: Sendable, Hashable {
    let formats: Set<ImageFormat>
    let maximumByteCount: Int

    /// Nil where nothing is asked.
    init?(_ policy: SourcePolicy) {
        guard !policy.isTrusted else { return nil }
        (formats, maximumByteCount) = (policy.formats, policy.maximumByteCount)
    }

    /// Why it does not serve, or nil.
    ///
    /// - Parameter isRemade: whether a serializer of the user's writes what is on disk, in a format of its own choice.
    func problem(of data: Data, isRemade: Bool) -> WebImageError? {
        guard data.count <= maximumByteCount else {
            return .limitExceeded("maximumByteCount", allowed: maximumByteCount, required: data.count)
        }
        return isRemade ? nil : PictureSniffer(formats: formats).problem(of: data)
    }
}
