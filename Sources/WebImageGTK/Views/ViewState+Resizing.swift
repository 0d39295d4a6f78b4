import CWebImageGTK4
import FoundationEssentials
import WebImage

/// What a view shows, and how it was loaded.
struct ShownLoad {
    let load: ViewLoad
    let image: Image

    /// The box in pixels to load it into anew when it is drawn at a size in pixels; nil as long as it is good enough.
    ///
    /// A bit more is asked for than is needed, so that a window that is being resized asks seldom.
    @MainActor
    func betterBox(drawn width: Double, _ height: Double) -> ImageSize? {
        guard load.request.context?.thumbnailPixelSize == nil, width >= 1, height >= 1 else { return nil }
        let (pixelWidth, pixelHeight) = (Double(image.pixelWidth), Double(image.pixelHeight))
        let source = image.sourcePixelSize
        let lacks =
            (width > pixelWidth + 1 || height > pixelHeight + 1) && image.metadata.isThumbnail
            && (source.width > pixelWidth + 1 || source.height > pixelHeight + 1)
        let isWasteful = pixelWidth > max(width * 2, width + 128) && pixelHeight > max(height * 2, height + 128)
        guard lacks || (isWasteful && !image.metadata.isVector) else { return nil }
        let step = 64.0
        return ImageSize(width: (width / step).rounded(.up) * step, height: (height / step).rounded(.up) * step)
    }
}

extension ViewState {
    /// The content is drawn at a size, in points: if it has too few pixels for that, or many too many, it is loaded anew.
    ///
    /// A picture that was loaded before its view had a size comes with all its pixels; drawing it small costs more with each frame than
    /// decoding it small once.
    func noteDrawn(_ width: Double, _ height: Double) {
        noteDrawn(paintable.substitute == nil ? shown : shownElsewhere[Self.highlightedKey], width, height)
    }

    /// The same of what some slot shows.
    func noteDrawn(_ shown: ShownLoad?, _ width: Double, _ height: Double) {
        guard usesAutomaticThumbnailSize, !isResizing, let shown, loads[shown.load.key] == nil else { return }
        let scale = Double(gtk_widget_get_scale_factor(view.widget))
        guard let box = shown.betterBox(drawn: width * scale, height * scale) else { return }
        isResizing = true
        // Not while GTK draws.
        MainMailbox.shared.post { [weak self] in self?.resize(shown, to: box) }
    }

    private func resize(_ shown: ShownLoad, to box: ImageSize) {
        isResizing = false
        let key = shown.load.key
        let isShown = self.shown?.load === shown.load || shownElsewhere[key]?.load === shown.load
        guard let url = shown.load.request.url, isShown, loads[key] == nil else { return }
        var request = shown.load.request
        request.isUpgrade = true
        request.completed = nil
        request.progress = nil
        request.placeholder = nil
        request.options.subtract([.avoidAutoSetImage, .refreshCached, .fromLoaderOnly, .progressiveLoad])
        var context = shown.load.context
        context.thumbnailPixelSize = box
        let load = ViewLoad(
            request,
            context: context,
            key: key,
            number: shown.load.number,
            state: self,
            setter: shown.load.setter,
            showsInPaintable: shown.load.showsInPaintable
        )
        loads[key] = load
        load.start(url, manager: request.context?.customManager ?? .shared)
    }
}

extension Image {
    /// The upright size in pixels of the picture it was made of.
    fileprivate var sourcePixelSize: ImageSize {
        let isTurned = metadata.sourceOrientation.swapsSides
        let (width, height) = (Double(metadata.sourceWidth), Double(metadata.sourceHeight))
        return isTurned ? ImageSize(width: height, height: width) : ImageSize(width: width, height: height)
    }
}
