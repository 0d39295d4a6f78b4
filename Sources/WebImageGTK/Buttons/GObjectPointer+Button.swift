public import FoundationEssentials
import WebImage

/// The images that a button shows now. For the main thread.
extension GObjectPointer {
    /// The URL of the image for the button's current state, or else of ``ImageSlot/image``.
    @MainActor
    public var currentImageURL: URL? { imageURL(in: .image(.of(gobjectPointer))) ?? imageURL(in: .image) }

    /// The URL of the background for the button's current state, or else of ``ImageSlot/background``.
    @MainActor
    public var currentBackgroundImageURL: URL? {
        imageURL(in: .background(.of(gobjectPointer))) ?? imageURL(in: .background)
    }

    /// The `GtkPicture` that shows images, for changes to its layout or description; nil before an image was set. The button owns it.
    @MainActor
    public var buttonPicture: OpaquePointer? { picture(.image) }

    /// The `GtkPicture` that shows backgrounds, for changes to its layout; nil before a background was set. The button owns it.
    @MainActor
    public var buttonBackgroundPicture: OpaquePointer? { picture(.background) }

    @MainActor
    private func picture(_ role: ButtonRole) -> OpaquePointer? {
        ViewState.existing(gobjectPointer)?.button?.picture(role).map { OpaquePointer($0) }
    }
}
