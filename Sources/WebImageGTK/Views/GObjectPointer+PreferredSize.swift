public import WebImage

extension GObjectPointer {
    /// The size in pixels of the screen at which pictures are decoded when they are first loaded into the view, in place of the view's own
    /// size; nil by default.
    ///
    /// For a view whose size is not known yet, or is still that of another picture: one in a page that has not been shown, or one that is as
    /// big as its picture in an area that scrolls. Unlike ``WebImage/WebImageContext/thumbnailPixelSize`` it does not stand for good: what is
    /// drawn bigger than it was decoded is decoded anew, as with the view's own size. Read when a load begins; nothing without
    /// ``usesAutomaticThumbnailSize``. Main thread.
    @MainActor
    public var preferredPixelSize: ImageSize? {
        get { ViewState.existing(gobjectPointer)?.preferredPixelSize }
        nonmutating set { ViewState.of(gobjectPointer).preferredPixelSize = newValue }
    }
}
