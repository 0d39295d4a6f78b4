public import FoundationEssentials
import WebImage

/// What a button shows now. Everything here is for the main thread.
extension GObjectPointer {
    /// The URL of the image that was set for the state that the button is in, else of ``ImageSlot/image``.
    @MainActor
    public var currentImageURL: URL? { imageURL(in: .image(.of(gobjectPointer))) ?? imageURL(in: .image) }

    /// The URL of the background that was set for the state that the button is in, else of ``ImageSlot/background``.
    @MainActor
    public var currentBackgroundImageURL: URL? {
        imageURL(in: .background(.of(gobjectPointer))) ?? imageURL(in: .background)
    }

    /// The `GtkPicture` that shows images, for changing its layout or description; nil before one was set. It belongs to the button.
    @MainActor
    public var buttonPicture: OpaquePointer? { picture(.image) }

    /// The `GtkPicture` that shows backgrounds, for changing its layout; nil before one was set. It belongs to the button.
    @MainActor
    public var buttonBackgroundPicture: OpaquePointer? { picture(.background) }

    @MainActor
    private func picture(_ role: ButtonRole) -> OpaquePointer? {
        ViewState.existing(gobjectPointer)?.button?.picture(role).map { OpaquePointer($0) }
    }
}
