import CWebImageGTK4
import Testing

@testable import WebImageGTK

/// The widgets that `setImage` shows images in.
enum ViewKind: CaseIterable, Sendable {
    case picture, image, button

    /// A widget without a parent.
    @MainActor
    func make() throws -> OpaquePointer {
        let widget: UnsafeMutablePointer<GtkWidget>? =
            switch self {
            case .picture: gtk_picture_new()
            case .image: gtk_image_new()
            case .button: gtk_button_new()
            }
        return OpaquePointer(try #require(widget))
    }

    /// The widget that draws the image: for a button the `GtkPicture` inside it, which exists from the first load on.
    @MainActor
    func paintable(of view: OpaquePointer) -> ImagePaintable {
        ViewState.of(UnsafeMutableRawPointer(view.buttonPicture ?? view)).paintable
    }
}
