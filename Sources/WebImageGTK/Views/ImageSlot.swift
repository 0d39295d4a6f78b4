import WebImage

/// A place for an image in a view. Each slot has one load at a time; a new load cancels the one before.
public struct ImageSlot: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case place(ButtonPlace)
        case highlighted
        case named(String)
    }

    let kind: Kind

    /// The image of a view; of a button, the image of ``ButtonState/normal``.
    public static let image = ImageSlot(kind: .place(.image))

    /// The background of a button in ``ButtonState/normal``, behind whatever the button shows.
    public static let background = ImageSlot(kind: .place(ButtonPlace(role: .background, state: .normal)))

    /// The image that a view shows while it is highlighted; see ``GObjectPointer/isHighlighted``. The view keeps the size that its
    /// image gives it, no transition leads to the highlighted image, and an animation plays on instead.
    public static let highlighted = ImageSlot(kind: .highlighted)

    /// The image of a button in one state. States without an image show the one of ``ButtonState/normal``, which is ``image``.
    ///
    /// The button's child becomes a `GtkPicture`, in place of a label or icon; the label's text stays the button's accessible name.
    public static func image(_ state: ButtonState) -> ImageSlot {
        ImageSlot(kind: .place(ButtonPlace(role: .image, state: state)))
    }

    /// The background of a button in one state. States without a background show the one of ``ButtonState/normal``.
    ///
    /// The button's child, for example a label, stays in front and determines the button's size; without a child the background does. The
    /// background covers the button inside its padding, which style sheets decide, and keeps its aspect ratio.
    public static func background(_ state: ButtonState) -> ImageSlot {
        ImageSlot(kind: .place(ButtonPlace(role: .background, state: state)))
    }

    /// Another slot for the same image: its load and the load of ``image`` do not cancel each other, and the view shows the image that
    /// arrived last.
    ///
    /// - Parameter operationKey: the name, as in ``WebImage/WebImageContext/setImageOperationKey``.
    public static func named(_ operationKey: String) -> ImageSlot {
        operationKey == image.operationKey ? image : ImageSlot(kind: .named(operationKey))
    }

    /// Returns the slot that a context names, or else ``image``.
    static func of(_ context: WebImageContext?) -> ImageSlot {
        context?.setImageOperationKey.map { named($0) } ?? image
    }

    /// The value that ``WebImage/WebImageContext/setImageOperationKey`` has while the slot loads: `"image"`, `"highlightedImage"`,
    /// `"GtkButtonImageOperation1"`, `"GtkButtonBackgroundImageOperation0"`, or the name.
    public var operationKey: String {
        switch kind {
        case .place(.image): "image"
        case .place(let place) where place.role == .image: "GtkButtonImageOperation\(place.state.rawValue)"
        case .place(let place): "GtkButtonBackgroundImageOperation\(place.state.rawValue)"
        case .highlighted: "highlightedImage"
        case .named(let name): name
        }
    }

    /// The role and state of a button's slot; `image` for other slots.
    var place: ButtonPlace {
        if case .place(let place) = kind { place } else { .image }
    }
}

/// The two images of a button.
enum ButtonRole: Hashable, CaseIterable {
    case image
    case background
}

/// The role and state for which a button shows an image.
struct ButtonPlace: Hashable {
    let role: ButtonRole
    let state: ButtonState

    /// The place that other views have as well.
    static let image = ButtonPlace(role: .image, state: .normal)
}
