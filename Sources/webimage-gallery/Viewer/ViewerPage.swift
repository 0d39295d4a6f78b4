import CWebImageGTK4
import FoundationEssentials
import WebImage
import WebImageGTK

/// The viewer: one image with zoom, info panel and playback controls.
@MainActor
final class ViewerPage {
    let root: RetainedWidget
    let facts = InfoPanel()
    let picture: Widget
    let scroller: Widget
    let animation: AnimationControls
    let zoomLabel = Make.label("Fit", classes: "numeric")
    let neighbours: NeighbourPreloader
    private let manager: WebImageManager
    private let message = Make.label(classes: "dim-label")
    private let position = Make.label(classes: "numeric", "dim-label")
    private let previous: Widget
    private let next: Widget
    let zoom: ZoomableImageView
    /// Called when an image has been loaded.
    var settled: (@MainActor () -> Void)?
    private(set) var item: ImageItem?
    /// True once the image has been loaded or has failed.
    private(set) var isSettled = true
    private(set) var error: WebImageError?
    private var result: WebImageResult?
    private var recording = LoadRecording()
    /// The image that the info panel describes.
    private weak var describedImage: Image?
    private var contentSignal: Signal?

    /// - Parameter step: called to open another image, with the offset to the current one.
    init(manager: WebImageManager, step: @escaping @MainActor (Int) -> Void) {
        self.manager = manager
        neighbours = NeighbourPreloader(manager: manager)
        picture = Make.required(gtk_picture_new())
        gtk_picture_set_can_shrink(picture.opaque, 1)
        picture.imageIndicator = ProgressIndicator()
        animation = AnimationControls(AnimatedImageView(picture))
        scroller = Make.required(gtk_scrolled_window_new())
        scroller.expand()
        gtk_widget_set_focusable(scroller, 1)
        gtk_scrolled_window_set_child(scroller.opaque, picture)
        zoom = ZoomableImageView(picture)
        previous = Make.button(icon: "go-previous-symbolic", "Previous image (Left)") { step(-1) }
        next = Make.button(icon: "go-next-symbolic", "Next image (Right)") { step(1) }
        root = RetainedWidget(Make.box(GTK_ORIENTATION_VERTICAL))
        gtk_box_append(widget.cast(), makeMiddle())
        gtk_box_append(widget.cast(), makeBar())
        zoom.zoomHandler = { [weak self] in self?.zoomChanged() }
    }

    var widget: Widget { root.widget }

    private func makeMiddle() -> Widget {
        let overlay = Make.required(gtk_overlay_new())
        gtk_overlay_set_child(overlay.opaque, scroller)
        gtk_widget_set_halign(message, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(message, GTK_ALIGN_CENTER)
        gtk_label_set_justify(message.opaque, GTK_JUSTIFY_CENTER)
        Make.wrap(message, at: 60)
        gtk_widget_set_visible(message, 0)
        gtk_overlay_add_overlay(overlay.opaque, message)
        let middle = Make.box(GTK_ORIENTATION_HORIZONTAL, overlay, facts.widget)
        middle.expand()
        return middle
    }

    private func makeBar() -> Widget {
        gtk_label_set_width_chars(zoomLabel.opaque, 7)
        gtk_label_set_xalign(zoomLabel.opaque, 0.5)
        let bar = Make.required(gtk_action_bar_new())
        for widget in [previous, next, position, animation.widget] { gtk_action_bar_pack_start(bar.opaque, widget) }
        let ends = [
            Make.button(icon: "help-about-symbolic", "Image info (I)") { [weak self] in self?.facts.toggle() },
            Make.button(icon: "zoom-fit-best-symbolic", "Fit to window (0)") { [weak self] in self?.fit() },
            Make.button(icon: "zoom-original-symbolic", "Actual size (1)") { [weak self] in self?.showPixels() },
            Make.button(icon: "zoom-in-symbolic", "Zoom in (+)") { [weak self] in self?.zoomIn() },
            zoomLabel,
            Make.button(icon: "zoom-out-symbolic", "Zoom out (-)") { [weak self] in self?.zoomOut() },
        ]
        for widget in ends { gtk_action_bar_pack_end(bar.opaque, widget) }
        return bar
    }

    // MARK: Loading

    /// Loads and shows an image.
    ///
    /// - Parameters:
    ///   - place: its index, from 0, and the number of images.
    ///   - thumbnail: the placeholder.
    ///   - pageSize: the size of the page in points, used before its first layout.
    func show(_ item: ImageItem, place: (index: Int, count: Int), thumbnail: Image?, pageSize: ImageSize) {
        self.item = item
        (error, result, describedImage) = (nil, nil, nil)
        isSettled = false
        showMessage(nil)
        gtk_label_set_text(position.opaque, "\(place.index + 1) of \(place.count)")
        gtk_widget_set_sensitive(previous, place.index > 0 ? 1 : 0)
        gtk_widget_set_sensitive(next, place.index + 1 < place.count ? 1 : 0)
        gtk_picture_set_alternative_text(picture.opaque, item.title)
        facts.clear(item)
        animation.show(nil)
        recording = LoadRecording()
        var context = loadContext(pageSize)
        context.observer = recording
        picture.setZoomableImage(
            with: item.url,
            placeholder: thumbnail.map { .image($0) },
            options: [.progressiveLoad, .highPriority],
            context: context
        ) { [weak self, recording] result in
            // Ignores the result if another image was opened, or the same one again.
            guard let self, self.item == item, self.recording === recording else { return }
            isSettled = true
            switch result {
            case .success(let loaded): settle(loaded)
            case .failure(let error): fail(error)
            }
        }
        watchContent()
    }

    /// Returns the context to load images for an area of this size.
    private func loadContext(_ pageSize: ImageSize) -> WebImageContext {
        var context = WebImageContext()
        context.customManager = manager
        let scale = Double(gtk_widget_get_scale_factor(scroller))
        // The size of the area, not of the image view, which may still have the size of another image, or none.
        let area = areaSize(pageSize)
        picture.preferredPixelSize = ImageSize(width: area.width * scale, height: area.height * scale)
        // Maps one image pixel to one screen pixel.
        if scale > 1 { context.imageScaleFactor = scale }
        return context
    }

    private func areaSize(_ pageSize: ImageSize) -> ImageSize {
        let (width, height) = (gtk_widget_get_width(scroller), gtk_widget_get_height(scroller))
        if gtk_widget_get_mapped(scroller) != 0, width > 0, height > 0 {
            return ImageSize(width: Double(width), height: Double(height))
        }
        return ImageSize(width: max(pageSize.width - facts.width, 64), height: max(pageSize.height, 64))
    }

    /// Preloads images that may be opened next.
    func prepare(_ urls: [URL], pageSize: ImageSize) {
        var context = loadContext(pageSize)
        context.thumbnailPixelSize = picture.preferredPixelSize
        neighbours.load(urls, context: context)
    }

    /// Clears the page and cancels all loads.
    func clear() {
        item = nil
        isSettled = true
        (result, error, describedImage) = (nil, nil, nil)
        neighbours.cancel()
        picture.setImage(with: nil)
        animation.show(nil)
    }

    private func settle(_ result: WebImageResult) {
        self.result = result
        describe(result.image)
        animation.show(result.image)
        settled?()
    }

    private func fail(_ error: WebImageError) {
        guard error.code != .cancelled else { return }
        self.error = error
        showMessage("Cannot show this image: \(PlainText.line(error.message, most: 300))")
        facts.show(error, explanation: recording.explanation)
    }

    private func showMessage(_ text: String?) {
        gtk_label_set_text(message.opaque, text ?? "")
        gtk_widget_set_visible(message, text == nil ? 0 : 1)
    }

    // MARK: Facts

    /// Updates the info panel when the view has loaded the image again with another size.
    private func watchContent() {
        guard contentSignal == nil, let paintable = gtk_picture_get_paintable(picture.opaque) else { return }
        contentSignal = Signal("invalidate-contents", of: UnsafeMutableRawPointer(paintable)) { [weak self] in
            self?.describeAgain()
        }
    }

    private func describeAgain() {
        guard result != nil, let image = picture.latestLoadState?.result?.image, image !== describedImage else {
            return
        }
        describe(image)
    }

    private func describe(_ image: Image) {
        guard let result else { return }
        describedImage = image
        facts.show(result, image, recording)
    }
}
