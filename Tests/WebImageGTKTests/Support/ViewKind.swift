import CWebImageGTK4
import Testing

@testable import WebImageGTK

/// The widgets that `setImage` shows pictures in.
enum ViewKind: CaseIterable, Sendable {
    case picture, image, button

    /// A widget that belongs to nobody yet.
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

    /// What the picture of such a widget is drawn in: of a button that of the picture in it, which is there from the first load on.
    @MainActor
    func paintable(of view: OpaquePointer) -> ImagePaintable {
        ViewState.of(UnsafeMutableRawPointer(view.buttonPicture ?? view)).paintable
    }
}
