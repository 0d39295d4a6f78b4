/// The size of a decode, decided from the header before any memory is allocated.
package struct DecodePlan: Sendable, Hashable {
    /// The width of the result in pixels before the orientation is applied; not larger than the stored width. ``height`` likewise.
    package var width: Int
    package var height: Int
    /// The orientation that remains to be applied to the rows.
    package var orientation: ImageOrientation
    /// Indicates whether a thumbnail size made the result smaller than the stored image.
    package var isThumbnail: Bool
    /// The byte limit that made the result smaller than the stored image; 0 if none did.
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
