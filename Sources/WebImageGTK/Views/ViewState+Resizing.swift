import CWebImageGTK4
import FoundationEssentials
package import WebImage

/// The image that a view shows, and its load.
struct ShownLoad {
    let load: ViewLoad
    let image: Image

    /// Returns the box in pixels to load the image into again, given the size in pixels at which it is drawn; nil if the image is good
    /// enough or the last request did not help.
    ///
    /// The box is rounded up, so that a window that is being resized causes few loads.
    ///
    /// - Parameter asked: the box of the last request.
    @MainActor
    func betterBox(drawn width: Double, _ height: Double, asked: ImageSize? = nil) -> ImageSize? {
        guard load.request.context?.thumbnailPixelSize == nil, width >= 1, height >= 1 else { return nil }
        let (pixelWidth, pixelHeight) = (Double(image.pixelWidth), Double(image.pixelHeight))
        let isWasteful = pixelWidth > max(width * 2, width + 128) && pixelHeight > max(height * 2, height + 128)
        let isLacking = lacksPixels(width, height)
        guard isLacking || (isWasteful && !image.metadata.isVector) else { return nil }
        let box = Self.rounded(isLacking ? neededSize(width, height) : ImageSize(width: width, height: height))
        if let asked {
            // A transformer may return the same image for any size, and a load that failed now would fail for the next frame, too.
            guard isLacking ? box.width > asked.width || box.height > asked.height : box != asked else { return nil }
        }
        return box
    }

    @MainActor
    private func lacksPixels(_ width: Double, _ height: Double) -> Bool {
        let source = image.uprightSourceSize
        let (pixelWidth, pixelHeight) = (Double(image.pixelWidth), Double(image.pixelHeight))
        if hasLarger { return width > pixelWidth + 1 || height > pixelHeight + 1 }
        guard image.metadata.isThumbnail, source.width > pixelWidth + 1 || source.height > pixelHeight + 1 else {
            return false
        }
        return width > pixelWidth + 1 || height > pixelHeight + 1
    }

    /// True if the image is the candidate of a source that has larger ones.
    @MainActor
    private var hasLarger: Bool { load.request.source?.hasLarger(than: load.request.url) ?? false }

    /// The decode size that provides all pixels at the drawn size when the aspect ratio is kept, even if the image is drawn stretched.
    @MainActor
    private func neededSize(_ width: Double, _ height: Double) -> ImageSize {
        let source = image.uprightSourceSize
        guard load.context.preserveAspectRatio ?? true else {
            return ImageSize(width: width, height: height)
        }
        let scale = max(width / source.width, height / source.height)
        guard scale < 1 || hasLarger else { return source }
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

/// The largest size in pixels at which an image has been drawn while the size of its view stayed the same.
///
/// A paintable may be drawn in several places. Without the maximum, each place would request its own size, and the loads would alternate
/// forever.
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

    /// Returns the maximum of this size and a former one of the same load and view size.
    func joined(with former: DrawnSize?) -> DrawnSize {
        guard let former, former.number == number, former.viewSize == viewSize else { return self }
        var joined = self
        joined.width = max(width, former.width)
        joined.height = max(height, former.height)
        return joined
    }
}

extension ViewState {
    /// Called with the size in points at which the content is drawn. If it has too few pixels for that size, or far too many, it is loaded
    /// again.
    ///
    /// An image that was loaded before its view had a size has all its pixels. Drawing it small in each frame costs more than decoding it
    /// again.
    func noteDrawn(_ width: Double, _ height: Double) {
        noteDrawn(paintable.substitute == nil ? shown : slots[.highlighted]?.shown, width, height)
    }

    /// Does the same for the image of a slot.
    func noteDrawn(_ shown: ShownLoad?, _ width: Double, _ height: Double) {
        guard usesAutomaticThumbnailSize, !isResizing, let shown, tiledImage?.provides(shown) != true else { return }
        let known = slots[shown.load.slot] ?? Slot()
        guard known.load == nil else { return }
        let scale = Double(gtk_widget_get_scale_factor(view.widget))
        let asked = known.asked?.number == shown.load.number ? known.asked?.box : nil
        let drawn = DrawnSize(of: shown, width * scale, height * scale, in: view).joined(with: known.drawnSize)
        slots[shown.load.slot, default: Slot()].drawnSize = drawn
        guard let box = shown.betterBox(drawn: drawn.width, drawn.height, asked: asked) else { return }
        isResizing = true
        // Posted, because GTK is drawing now.
        MainLoopQueue.shared.post { [weak self] in self?.resize(shown, to: box) }
    }

    private func resize(_ shown: ShownLoad, to box: ImageSize) {
        isResizing = false
        let slot = shown.load.slot
        let isShown = self.shown?.load === shown.load || slots[slot]?.shown?.load === shown.load
        guard isShown, slots[slot]?.load == nil else { return }
        var request = shown.load.request
        request.isUpgrade = true
        request.completed = nil
        request.progress = nil
        request.placeholder = nil
        request.options.subtract([.avoidAutoSetImage, .refreshCached, .fromLoaderOnly, .progressiveLoad])
        if let resizingPriority { request.options.setPriority(resizingPriority) }
        var context = shown.load.context
        context.thumbnailPixelSize = box
        // The box is that of the whole image.
        context.thumbnailCovers = nil
        // The same image with more pixels: revalidation was part of the first load.
        context.cachePolicy = .immutable
        if let source = request.source { request.url = self.url(of: source, context) }
        // The largest candidate that may be loaded has no more pixels.
        let isComplete = !shown.image.metadata.isThumbnail && box.width >= Double(shown.image.pixelWidth)
        if request.url == shown.load.request.url, request.source != nil, isComplete {
            return change(slot) { $0.asked = (shown.load.number, box) }
        }
        guard let url = request.url else { return }
        let load = ViewLoad(
            request,
            context: context,
            slot: slot,
            number: shown.load.number,
            state: self,
            setter: shown.load.setter,
            showsInPaintable: shown.load.showsInPaintable
        )
        // No transition leads to it, but the target marks the load as a button's.
        load.transitionTarget = shown.load.transitionTarget
        change(slot) {
            $0.load = load
            $0.asked = (load.number, box)
        }
        load.start(url, manager: request.context?.customManager ?? .shared)
    }
}

extension ViewState {
    /// Applies the priority to loads that add pixels.
    func resizingPriorityChanged() {
        guard let resizingPriority else { return }
        for load in loads where load.request.isUpgrade { load.operation?.setPriority(resizingPriority) }
    }
}

extension WebImageOptions {
    /// Sets the priority flags.
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
    /// The size of the source image in pixels, after its orientation was applied; the image's own size if unknown.
    package var uprightSourceSize: ImageSize {
        let (width, height) = (Double(metadata.sourceWidth), Double(metadata.sourceHeight))
        guard width > 0, height > 0 else { return ImageSize(width: Double(pixelWidth), height: Double(pixelHeight)) }
        let isTurned = metadata.sourceOrientation.swapsSides
        return isTurned ? ImageSize(width: height, height: width) : ImageSize(width: width, height: height)
    }
}
