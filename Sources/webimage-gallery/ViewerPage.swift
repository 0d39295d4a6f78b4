import CWebImageGTK4
import WebImage
import WebImageGTK

/// One picture, its size, its facts, and its movement.
@MainActor
final class ViewerPage {
    let widget: Widget
    let facts = FactsPanel()
    let picture: Widget
    let scroller: Widget
    let animation: AnimationControls
    private let manager: WebImageManager
    private let zoomLabel: Widget
    private let message = Make.label(classes: "dim-label")
    /// How many points of the widget a pixel of the picture takes; nil to fit the picture into the window.
    private(set) var zoom: Double?
    /// The size of the picture in points.
    var naturalSize = ImageSize(width: 0, height: 0)
    /// Where the area was when a drag began.
    var panStart: ScrollPosition?
    /// Where the pointer is, in the scrolled area.
    var pointer: ImagePoint?
    private(set) var item: PictureItem?
    /// Whether the picture is there, or has failed.
    private(set) var isSettled = true
    private(set) var error: WebImageError?

    init(manager: WebImageManager) {
        self.manager = manager
        picture = Make.required(gtk_picture_new())
        gtk_picture_set_can_shrink(picture.opaque, 1)
        picture.imageIndicator = ProgressIndicator()
        animation = AnimationControls(AnimatedImageView(picture))
        scroller = Make.required(gtk_scrolled_window_new())
        scroller.expand()
        gtk_scrolled_window_set_child(scroller.opaque, picture)
        let overlay = Make.required(gtk_overlay_new())
        gtk_overlay_set_child(overlay.opaque, scroller)
        gtk_widget_set_halign(message, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(message, GTK_ALIGN_CENTER)
        gtk_label_set_wrap(message.opaque, 1)
        gtk_widget_set_can_target(message, 0)
        gtk_overlay_add_overlay(overlay.opaque, message)
        zoomLabel = Make.label("Fit", classes: "numeric")
        gtk_label_set_width_chars(zoomLabel.opaque, 6)
        gtk_label_set_xalign(zoomLabel.opaque, 0.5)
        let middle = Make.box(GTK_ORIENTATION_HORIZONTAL, overlay, facts.widget)
        middle.expand()
        widget = Make.box(GTK_ORIENTATION_VERTICAL, middle)
        let bar = Make.required(gtk_action_bar_new())
        gtk_action_bar_pack_start(bar.opaque, animation.widget)
        gtk_action_bar_pack_end(
            bar.opaque,
            Make.button(icon: "zoom-fit-best-symbolic", "Fit into the window (0)") { [weak self] in self?.fit() }
        )
        gtk_action_bar_pack_end(
            bar.opaque,
            Make.button(icon: "zoom-in-symbolic", "Bigger (+)") { [weak self] in self?.zoomIn() }
        )
        gtk_action_bar_pack_end(bar.opaque, zoomLabel)
        gtk_action_bar_pack_end(
            bar.opaque,
            Make.button(icon: "zoom-out-symbolic", "Smaller (-)") { [weak self] in self?.zoomOut() }
        )
        gtk_box_append(widget.cast(), bar)
        fit()
        addGestures()
    }

    /// Shows a picture.
    func show(_ item: PictureItem) {
        self.item = item
        error = nil
        isSettled = false
        naturalSize = ImageSize(width: 0, height: 0)
        gtk_label_set_text(message.opaque, "")
        gtk_picture_set_alternative_text(picture.opaque, item.title)
        facts.clear(item)
        animation.show(nil)
        fit()
        let recording = LoadRecording()
        var context = WebImageContext()
        context.customManager = manager
        context.observer = recording
        picture.setImage(with: item.url, options: [.progressiveLoad, .highPriority], context: context) {
            [weak self] result in
            guard let self, self.item == item else { return }
            isSettled = true
            switch result {
            case .success(let loaded): settle(loaded, recording)
            case .failure(let error): fail(error, recording)
            }
        }
    }

    /// Shows nothing, and gives up what is under way.
    func clear() {
        item = nil
        isSettled = true
        picture.setImage(with: nil)
    }

    private func settle(_ result: WebImageResult, _ recording: LoadRecording) {
        naturalSize = result.image.uprightSourceSize
        facts.show(result, explanation: recording.explanation)
        animation.show(result.image)
    }

    private func fail(_ error: WebImageError, _ recording: LoadRecording) {
        guard error.code != .cancelled else { return }
        self.error = error
        gtk_label_set_text(message.opaque, "\(error)")
        facts.show(error, explanation: recording.explanation)
    }

    // MARK: Size

    /// Steps of the sizes, from one to the next.
    private static let step = 1.25

    func fit() {
        zoom = nil
        gtk_widget_set_size_request(picture, -1, -1)
        picture.expand()
        gtk_widget_set_halign(picture, GTK_ALIGN_FILL)
        gtk_widget_set_valign(picture, GTK_ALIGN_FILL)
        gtk_picture_set_content_fit(picture.opaque, GTK_CONTENT_FIT_SCALE_DOWN)
        gtk_scrolled_window_set_policy(scroller.opaque, GTK_POLICY_EXTERNAL, GTK_POLICY_EXTERNAL)
        gtk_label_set_text(zoomLabel.opaque, "Fit")
    }

    func zoomIn() { setZoom((zoom ?? fittingZoom) * Self.step) }
    func zoomOut() { setZoom((zoom ?? fittingZoom) / Self.step) }
    func showPixels() { setZoom(1) }

    /// The size at which the picture fits into the window.
    private var fittingZoom: Double {
        let (width, height) = (Double(gtk_widget_get_width(scroller)), Double(gtk_widget_get_height(scroller)))
        guard naturalSize.width > 0, naturalSize.height > 0, width > 0, height > 0 else { return 1 }
        return min(width / naturalSize.width, height / naturalSize.height, 1)
    }

    /// Makes a pixel of the picture take so many points; the place under the pointer stays where it is.
    func setZoom(_ wanted: Double) {
        guard naturalSize.width > 0, wanted.isFinite else { return }
        // GTK's sizes end somewhere, and so does what a screen is good for.
        let most = 16_000 / max(naturalSize.width, naturalSize.height)
        let zoom = min(max(wanted, 0.02), max(min(16, most), 0.02))
        let former = self.zoom ?? fittingZoom
        let anchor = ZoomAnchor(scroller, pointer, ratio: zoom / former)
        self.zoom = zoom
        gtk_picture_set_content_fit(picture.opaque, GTK_CONTENT_FIT_CONTAIN)
        gtk_widget_set_hexpand(picture, 0)
        gtk_widget_set_vexpand(picture, 0)
        gtk_widget_set_halign(picture, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(picture, GTK_ALIGN_CENTER)
        gtk_widget_set_size_request(
            picture,
            Int32((naturalSize.width * zoom).rounded(.up)),
            Int32((naturalSize.height * zoom).rounded(.up))
        )
        gtk_scrolled_window_set_policy(scroller.opaque, GTK_POLICY_AUTOMATIC, GTK_POLICY_AUTOMATIC)
        gtk_label_set_text(zoomLabel.opaque, "\(Int((zoom * 100).rounded())) %")
        anchor.apply(to: scroller)
    }
}

extension Image {
    /// The upright size of the picture in its file, in pixels.
    var uprightSourceSize: ImageSize {
        let (width, height) = (Double(metadata.sourceWidth), Double(metadata.sourceHeight))
        guard width > 0, height > 0 else { return ImageSize(width: Double(pixelWidth), height: Double(pixelHeight)) }
        let isTurned = metadata.sourceOrientation.swapsSides
        return isTurned ? ImageSize(width: height, height: width) : ImageSize(width: width, height: height)
    }
}
