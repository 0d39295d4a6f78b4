import WebImage

/// A place of a view for an image. Each slot has one load at a time; a new load cancels the one before.
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
    /// What the button had, a label for example, stays in front and determines the button's size; without it the background does. The
    /// background covers the button inside its padding, which style sheets decide, and keeps its aspect ratio.
    public static func background(_ state: ButtonState) -> ImageSlot {
        ImageSlot(kind: .place(ButtonPlace(role: .background, state: state)))
    }

    /// Another slot for the same image: its load neither cancels the load of ``image`` nor is cancelled by it, and the view shows what
    /// arrived last.
    ///
    /// - Parameter operationKey: the name, as in ``WebImage/WebImageContext/setImageOperationKey``.
    public static func named(_ operationKey: String) -> ImageSlot {
        operationKey == image.operationKey ? image : ImageSlot(kind: .named(operationKey))
    }

    /// The slot that a context names; else ``image``.
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

    /// Where a button shows it.
    var place: ButtonPlace {
        if case .place(let place) = kind { place } else { .image }
    }
}

/// Which image of a button.
enum ButtonRole: Hashable, CaseIterable {
    case image
    case background
}

/// Where and when a button shows an image.
struct ButtonPlace: Hashable {
    let role: ButtonRole
    let state: ButtonState

    /// Where other views have their image, too.
    static let image = ButtonPlace(role: .image, state: .normal)
}
