/// Whether an image of another size may be used for a load whose exact result is not cached.
///
/// A larger cached image of the same original is scaled down, without a download and without decoding the original. A smaller one is
/// delivered first, as a preview (``WebImageResult/isFinal`` is false), while the requested size is loaded.
public enum SizeReuse: Sendable, Hashable {
    /// Only the exact result is used.
    case none
    /// Images in memory are used.
    case memory
    /// Images in memory are used, and then those on disk, also of earlier runs and other processes. Costs up to 4 KiB of disk for each
    /// original that is stored, and reading the end of the original's file when the exact result is in neither cache.
    case disk
}
