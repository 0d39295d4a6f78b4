import CWebImageGTK4
import FoundationEssentials
import WebImage
import WebImageGTK

// The code of `Documentation/Views.md` and of the README's part about GTK. It is compiled, not run.

@MainActor
private func oneCall(picture: OpaquePointer, url: URL) {
    // snippet: views-one-call
    picture.setImage(with: url)
    // end

    // snippet: views-while-loading
    picture.imageTransition = .fade
    picture.imageIndicator = ActivityIndicator()
    picture.setImage(with: url, placeholder: .icon(name: "image-loading-symbolic"), options: .progressiveLoad) {
        result in
        if case .failure(let error) = result { print(error) }
    }
    // end
}

private func registering() {
    // snippet: views-gio-loader
    ImageLoadersManager.shared.add(GIOImageLoader.shared)
    // end
}

@MainActor
private func shares(picture: OpaquePointer) {
    // snippet: views-shares
    ImageLoadersManager.shared.add(GIOImageLoader.shared)
    picture.setImage(with: URL(string: "smb://server/photos/1.jpg"))
    // end
}

private func readingThumbnails() {
    // snippet: views-desktop-thumbnails
    WebImageManager.shared.desktopThumbnails = .shared
    // end
}

private func makingThumbnails(photo: URL) async throws {
    // snippet: views-make-thumbnail
    let thumbnail = try await DesktopThumbnailCache.shared.makeThumbnail(of: photo, size: .large)
    // end
    _ = thumbnail
}

@MainActor
private func ownTransition(picture: OpaquePointer) {
    // snippet: views-transition
    picture.imageTransition = WebImageTransition(duration: 0.3) { moment in
        moment.drawOld()
        gtk_snapshot_push_opacity(moment.snapshot, moment.progress)
        moment.drawNew()
        gtk_snapshot_pop(moment.snapshot)
    }
    // end
}

@MainActor
private func waiting(picture: OpaquePointer, url: URL) async throws {
    // snippet: views-awaiting
    let result = try await picture.setImage(awaiting: url)
    print(result.image.size)
    // end
}

@MainActor
private func otherWidgets(label: OpaquePointer, dragSource: OpaquePointer, url: URL) {
    // snippet: views-setter
    label.setImage(
        with: url,
        setter: { paintable, _ in gtk_drag_source_set_icon(dragSource, paintable, 0, 0) }
    )
    // end
}

@MainActor
private func animations(picture: OpaquePointer) {
    // snippet: views-animations
    let animation = AnimatedImageView(picture)
    animation.playbackMode = .bounce
    animation.playbackRate = 2
    animation.stopAnimating()
    // end
}

@MainActor
private func zooming(picture: UnsafeMutablePointer<GtkWidget>, scrolledWindow: OpaquePointer, url: URL) {
    // snippet: views-zoom
    gtk_scrolled_window_set_child(scrolledWindow, picture)
    picture.setZoomableImage(with: url)
    ZoomableImageView(picture).zoomHandler = { print("the zoom has changed") }
    // end
}

@MainActor
private func states(
    button: OpaquePointer,
    picture: OpaquePointer,
    url: URL,
    pressed: URL,
    background: URL,
    highlighted: URL
) {
    // snippet: views-states
    button.setImage(with: url)
    button.setImage(with: pressed, in: .image(.active))
    button.setImage(with: background, in: .background)
    picture.setImage(with: highlighted, in: .highlighted)
    // end
}

@MainActor
private func lists(urls: [URL], selection: OpaquePointer) {
    // snippet: views-lists
    let loader = ListImageLoader { position, _ in urls[position] }
    let grid = gtk_grid_view_new(selection, loader.makeFactory(cellWidth: 160, cellHeight: 120))
    // end
    _ = grid
}

/// Calls of the comparisons with other libraries.
@MainActor
private func calls(picture: OpaquePointer, button: OpaquePointer, url: URL, image: Image) {
    picture.setImage(with: url, placeholder: .image(image))
    picture.setImage(with: url, options: .delayPlaceholder)
    picture.setImage(with: url, in: .highlighted)
    button.setImage(with: url, in: .image(.active))
    button.setImage(with: url, in: .background)
    picture.cancelCurrentImageLoad()
}

@MainActor
private func life(application: OpaquePointer) {
    // snippet: views-life
    WebImageLifecycle.connect(to: application)
    // end
}
