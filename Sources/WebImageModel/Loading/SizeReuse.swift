/// Whether an image of another size may be used for a load whose exact result is not cached.
///
/// A larger cached image of the same original is scaled down, without a download and without decoding the original. A smaller one is
/// delivered first, as a preview (``WebImageResult/isFinal`` is false), while the requested size is loaded.
public enum SizeReuse: Sendable, Hashable {
    /// Only the exact result is used.
    case none
    /// Images in memory are used.
    case memory
}
