/// How big a decode will be, decided from the header before any memory is asked for.
struct DecodePlan: Sendable, Hashable {
    /// Size of the result in pixels before the orientation is applied; not larger than the stored size.
    var width: Int
    var height: Int
    /// The turn that remains to be applied to the rows.
    var orientation: ImageOrientation
    /// Whether a thumbnail size made the result smaller than the stored picture.
    var isThumbnail: Bool
    /// The byte limit that made the result smaller than the stored picture; 0 if none did.
    var scaleDownLimitBytes = 0
}
