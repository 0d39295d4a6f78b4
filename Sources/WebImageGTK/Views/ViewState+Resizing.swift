import CWebImageGTK4
import FoundationEssentials
import WebImage

/// What a view shows, and how it was loaded.
struct ShownLoad {
    let load: ViewLoad
    let image: Image

    /// The box in pixels to load it into anew when it is drawn at a size in pixels; nil as long as it is good enough, or what was asked for
    /// last did not help.
    ///
    /// A bit more is asked for than is needed, so that a window that is being resized asks seldom.
    ///
    /// - Parameter asked: the box that it was loaded into anew the last time.
    @MainActor
    func betterBox(drawn width: Double, _ height: Double, asked: ImageSize? = nil) -> ImageSize? {
        guard load.request.context?.thumbnailPixelSize == nil, width >= 1, height >= 1 else { return nil }
        let (pixelWidth, pixelHeight) = (Double(image.pixelWidth), Double(image.pixelHeight))
        let isWasteful = pixelWidth > max(width * 2, width + 128) && pixelHeight > max(height * 2, height + 128)
        let isLacking = lacksPixels(width, height)
        guard isLacking || (isWasteful && !image.metadata.isVector) else { return nil }
        let box = Self.rounded(isLacking ? neededSize(width, height) : ImageSize(width: width, height: height))
        if let asked {
            // A transformer may make the same of any number of pixels, and what cannot be loaded now cannot be a frame later.
            guard isLacking ? box.width > asked.width || box.height > asked.height : box != asked else { return nil }
        }
        return box
    }

    private func lacksPixels(_ width: Double, _ height: Double) -> Bool {
        let source = image.sourcePixelSize
        let (pixelWidth, pixelHeight) = (Double(image.pixelWidth), Double(image.pixelHeight))
        guard image.metadata.isThumbnail, source.width > pixelWidth + 1 || source.height > pixelHeight + 1 else {
            return false
        }
        return width > pixelWidth + 1 || height > pixelHeight + 1
    }

    /// The size at which the picture has all pixels of that size, if it is made without being stretched: it may be drawn stretched.
    private func neededSize(_ width: Double, _ height: Double) -> ImageSize {
        let source = image.sourcePixelSize
        guard source.width > 0, source.height > 0, load.context.preserveAspectRatio ?? true else {
            return ImageSize(width: width, height: height)
        }
        let scale = min(max(width / source.width, height / source.height), 1)
        return ImageSize(width: source.width * scale, height: source.height * scale)
    }

    private static func rounded(_ size: ImageSize) -> ImageSize {
        let step = 64.0
        return ImageSize(
            width: (size.width / step).rounded(.up) * step,
            height: (size.height / step).rounded(.up) * step
        )
    }
}

/// How big in pixels something is drawn, at most, while its view keeps its own size.
///
/// A paintable may be drawn elsewhere, too: what is enough for the one place is not for the other, and each would have it loaded anew for ever.
struct DrawnSize {
    private let number: Int
    private let viewSize: ImageSize
    private(set) var width: Double
    private(set) var height: Double

    @MainActor
    init(of shown: ShownLoad, _ width: Double, _ height: Double, in view: UnsafeMutableRawPointer) {
        let scale = gtk_widget_get_scale_factor(view.widget)
        number = shown.load.number
        viewSize = ImageSize(
            width: Double(gtk_widget_get_width(view.widget) * scale),
            height: Double(gtk_widget_get_height(view.widget) * scale)
        )
        (self.width, self.height) = (width, height)
    }

    /// The same, or what was before if that was bigger.
    func joined(with former: DrawnSize?) -> DrawnSize {
        guard let former, former.number == number, former.viewSize == viewSize else { return self }
        var joined = self
        joined.width = max(width, former.width)
        joined.height = max(height, former.height)
        return joined
    }
}

extension ViewState {
    /// The content is drawn at a size, in points: if it has too few pixels for that, or many too many, it is loaded anew.
    ///
    /// A picture that was loaded before its view had a size comes with all its pixels; drawing it small costs more with each frame than
    /// decoding it small once.
    func noteDrawn(_ width: Double, _ height: Double) {
        noteDrawn(paintable.substitute == nil ? shown : slots[.highlighted]?.shown, width, height)
    }

    /// The same of what some slot shows.
    func noteDrawn(_ shown: ShownLoad?, _ width: Double, _ height: Double) {
        guard usesAutomaticThumbnailSize, !isResizing, let shown else { return }
        let known = slots[shown.load.slot] ?? Slot()
        guard known.load == nil else { return }
        let scale = Double(gtk_widget_get_scale_factor(view.widget))
        let asked = known.asked?.number == shown.load.number ? known.asked?.box : nil
        let drawn = DrawnSize(of: shown, width * scale, height * scale, in: view).joined(with: known.drawnSize)
        slots[shown.load.slot, default: Slot()].drawnSize = drawn
        guard let box = shown.betterBox(drawn: drawn.width, drawn.height, asked: asked) else { return }
        isResizing = true
        // Not while GTK draws.
        MainMailbox.shared.post { [weak self] in self?.resize(shown, to: box) }
    }

    private func resize(_ shown: ShownLoad, to box: ImageSize) {
        isResizing = false
        let slot = shown.load.slot
        let isShown = self.shown?.load === shown.load || slots[slot]?.shown?.load === shown.load
        guard let url = shown.load.request.url, isShown, slots[slot]?.load == nil else { return }
        var request = shown.load.request
        request.isUpgrade = true
        request.completed = nil
        request.progress = nil
        request.placeholder = nil
        request.options.subtract([.avoidAutoSetImage, .refreshCached, .fromLoaderOnly, .progressiveLoad])
        if let resizingPriority { request.options.setPriority(resizingPriority) }
        var context = shown.load.context
        context.thumbnailPixelSize = box
        // The box is that of the whole picture.
        context.thumbnailCovers = nil
        // More pixels of the same picture: whether there is a newer one was asked when it was loaded.
        context.cachePolicy = .immutable
        let load = ViewLoad(
            request,
            context: context,
            slot: slot,
            number: shown.load.number,
            state: self,
            setter: shown.load.setter,
            showsInPaintable: shown.load.showsInPaintable
        )
        // No transition leads to it, but it is known by that as a button's.
        load.transitionTarget = shown.load.transitionTarget
        change(slot) {
            $0.load = load
            $0.asked = (load.number, box)
        }
        load.start(url, manager: request.context?.customManager ?? .shared)
    }
}

extension ViewState {
    /// What brings more pixels is as urgent as the rest.
    func resizingPriorityChanged() {
        guard let resizingPriority else { return }
        for load in loads where load.request.isUpgrade { load.operation?.setPriority(resizingPriority) }
    }
}

extension WebImageOptions {
    /// Says how urgent a load is.
    mutating func setPriority(_ priority: LoadPriority) {
        subtract([.lowPriority, .highPriority])
        switch priority {
        case .low: insert(.lowPriority)
        case .normal: break
        case .high: insert(.highPriority)
        }
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
