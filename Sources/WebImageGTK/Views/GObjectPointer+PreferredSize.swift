public import WebImage

extension GObjectPointer {
    /// The size in physical pixels at which images are first decoded for the view, in place of the view's own size; nil by default.
    ///
    /// For a view whose size is not known yet, or is still that of another image: in a page that has not been shown, or in a scrolled area
    /// where the view is as big as its image. Unlike ``WebImage/WebImageContext/thumbnailPixelSize``, it is not final: an image drawn
    /// larger is decoded again, as with the view's own size. Read when a load begins; ignored without ``usesAutomaticThumbnailSize``. Main
    /// thread.
    @MainActor
    public var preferredPixelSize: ImageSize? {
        get { ViewState.existing(gobjectPointer)?.preferredPixelSize }
        nonmutating set { ViewState.of(gobjectPointer).preferredPixelSize = newValue }
    }
}
