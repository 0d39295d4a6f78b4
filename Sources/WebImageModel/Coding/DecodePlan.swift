/// How big a decode will be, decided from the header before any memory is asked for.
package struct DecodePlan: Sendable, Hashable {
    /// Size of the result in pixels before the orientation is applied; not larger than the stored size.
    package var width: Int
    package var height: Int
    /// The turn that remains to be applied to the rows.
    package var orientation: ImageOrientation
    /// Whether a thumbnail size made the result smaller than the stored picture.
    package var isThumbnail: Bool
    /// The byte limit that made the result smaller than the stored picture; 0 if none did.
    package var scaleDownLimitBytes = 0

    package init(
        width: Int,
        height: Int,
        orientation: ImageOrientation,
        isThumbnail: Bool,
        scaleDownLimitBytes: Int = 0
    ) {
        self.width = width
        self.height = height
        self.orientation = orientation
        self.isThumbnail = isThumbnail
        self.scaleDownLimitBytes = scaleDownLimitBytes
    }
}
