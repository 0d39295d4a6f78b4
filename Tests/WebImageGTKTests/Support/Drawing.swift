import CWebImageGTK4
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// A drawing on a cairo surface, without a display or a window.
@MainActor
struct Drawing: Equatable {
    let width: Int
    let height: Int
    /// Premultiplied BGRA.
    let bytes: [UInt8]

    /// Draws.
    ///
    /// - Parameter body: Takes a `GtkSnapshot`.
    init(_ width: Int, _ height: Int, _ body: (OpaquePointer) -> Void) throws {
        Self.prepare()
        (self.width, self.height) = (width, height)
        let snapshot = try #require(gtk_snapshot_new())
        body(snapshot)
        guard let node = gtk_snapshot_free_to_node(snapshot) else {
            bytes = [UInt8](repeating: 0, count: width * height * 4)
            return
        }
        defer { gsk_render_node_unref(node) }
        let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(width), Int32(height))
        defer { cairo_surface_destroy(surface) }
        let cairo = cairo_create(surface)
        gsk_render_node_draw(node, cairo)
        cairo_destroy(cairo)
        cairo_surface_flush(surface)
        let pixels = try #require(cairo_image_surface_get_data(surface))
        bytes = Array(UnsafeBufferPointer(start: pixels, count: width * height * 4))
        try #require(cairo_image_surface_get_stride(surface) == Int32(width * 4))
    }

    /// Registers GTK's kinds of nodes. That needs no display, and a process without the main loop gets none.
    static func prepare() { _ = isPrepared }

    private static let isPrepared: Bool = {
        if !Display.isThere { gdk_set_allowed_backends("none") }
        return gtk_init_check() != 0
    }()

    /// Red, green, blue and alpha of a pixel.
    func rgba(_ x: Int, _ y: Int) -> [UInt8] {
        let pixel = (y * width + x) * 4
        return [bytes[pixel + 2], bytes[pixel + 1], bytes[pixel], bytes[pixel + 3]]
    }
}

extension WidgetPixels {
    /// The number of pixels that differ from a drawing, which may be drawn on a background.
    func differences(from drawing: Drawing, background: [UInt8]) -> Int {
        guard width == drawing.width, height == drawing.height else { return max(width * height, 1) }
        var count = 0
        for y in 0..<height {
            for x in 0..<width {
                let top = drawing.rgba(x, y)
                let under = 255 - Int(top[3])
                let expected = zip(top, background).map { (top: UInt8, background: UInt8) -> UInt8 in
                    let seen = (Int(background) * under + 127) / 255
                    return UInt8(clamping: Int(top) + seen)
                }
                if !rgba(x, y).isClose(to: expected) { count += 1 }
            }
        }
        return count
    }
}

extension [UInt8] {
    /// Returns whether no channel is off by more than rounding.
    func isClose(to other: [UInt8], by most: Int = 1) -> Bool {
        count == other.count && zip(self, other).allSatisfy { abs(Int($0) - Int($1)) <= most }
    }
}

/// Images whose quarters have different colours, so that mirroring, movement and scaling show.
enum Quarters {
    static let red: [UInt8] = [255, 0, 0, 255]
    static let green: [UInt8] = [0, 255, 0, 255]
    static let blue: [UInt8] = [0, 0, 255, 255]
    static let white: [UInt8] = [255, 255, 255, 255]
    static let cyan: [UInt8] = [0, 255, 255, 255]
    static let magenta: [UInt8] = [255, 0, 255, 255]
    static let yellow: [UInt8] = [255, 255, 0, 255]
    static let black: [UInt8] = [0, 0, 0, 255]

    /// Red, green, blue and white: the old image.
    static func old(_ width: Int = 40, _ height: Int = 20, isOpaque: Bool = false) throws -> Image {
        try picture(width, height, [red, green, blue, white], isOpaque: isOpaque)
    }

    /// Cyan, magenta, yellow and black: the new image.
    static func new(_ width: Int = 40, _ height: Int = 20, isOpaque: Bool = false) throws -> Image {
        try picture(width, height, [cyan, magenta, yellow, black], isOpaque: isOpaque)
    }

    /// An image of four colours: top left, top right, bottom left, bottom right.
    ///
    /// - Parameter isOpaque: Indicates whether its pixels have no alpha channel; otherwise they have one, and are
    ///   opaque all the
    ///   same.
    static func picture(_ width: Int, _ height: Int, _ colors: [[UInt8]], isOpaque: Bool) throws -> Image {
        let bitmap = try Bitmap.allocate(
            width: width,
            height: height,
            pixelFormat: isOpaque ? .rgb8 : .bgra8Premultiplied
        )
        for y in 0..<height {
            for x in 0..<width {
                let color = colors[(y * 2 / height) * 2 + x * 2 / width]
                let bytes = isOpaque ? Array(color[0..<3]) : [color[2], color[1], color[0], color[3]]
                bitmap.mutableRow(y).advanced(by: x * bytes.count).copyMemory(from: bytes, byteCount: bytes.count)
            }
        }
        return Image(bitmap: bitmap)
    }
}

extension TransitionMoment {
    /// The same moment at another progress.
    func at(_ progress: Double) -> TransitionMoment {
        TransitionMoment(
            snapshot: snapshot,
            width: width,
            height: height,
            progress: progress,
            oldRect: oldRect,
            viewRect: viewRect,
            old: old,
            new: new,
            color: color
        )
    }

    /// A moment of two images placed in a view, drawn in the view's coordinates.
    static func draw(
        _ effect: WebImageTransition,
        _ progress: Double,
        in view: ImageSize,
        old: (image: Image?, rect: ImageRect),
        new: (image: Image?, rect: ImageRect)
    ) throws -> Drawing {
        try Drawing(Int(view.width), Int(view.height)) { snapshot in
            var origin = graphene_point_t(x: Float(new.rect.x), y: Float(new.rect.y))
            gtk_snapshot_translate(snapshot, &origin)
            let moment = TransitionMoment(
                snapshot: snapshot,
                width: new.rect.width,
                height: new.rect.height,
                progress: progress,
                oldRect: ImageRect(
                    x: old.rect.x - new.rect.x,
                    y: old.rect.y - new.rect.y,
                    width: old.rect.width,
                    height: old.rect.height
                ),
                viewRect: ImageRect(x: -new.rect.x, y: -new.rect.y, width: view.width, height: view.height),
                old: old.image.flatMap { PaintableContent($0) },
                new: new.image.flatMap { PaintableContent($0) }
            )
            effect.draw(moment)
        }
    }
}

/// All transitions, by name.
enum Effects {
    static let all: [(name: String, make: @Sendable (Double) -> WebImageTransition)] = [
        ("fade", { .fade(duration: $0) }),
        ("flipFromLeft", { .flipFromLeft(duration: $0) }),
        ("flipFromRight", { .flipFromRight(duration: $0) }),
        ("flipFromTop", { .flipFromTop(duration: $0) }),
        ("flipFromBottom", { .flipFromBottom(duration: $0) }),
        ("curlUp", { .curlUp(duration: $0) }),
        ("curlDown", { .curlDown(duration: $0) }),
        ("slideFromLeft", { .slideFromLeft(duration: $0) }),
        ("slideFromRight", { .slideFromRight(duration: $0) }),
        ("slideFromTop", { .slideFromTop(duration: $0) }),
        ("slideFromBottom", { .slideFromBottom(duration: $0) }),
        ("zoom", { .zoom(duration: $0) }),
    ]
    static var names: [String] { all.map(\.name) }

    static func named(_ name: String, duration: Double = 0.5) -> WebImageTransition {
        all.first { $0.name == name }?.make(duration) ?? .fade
    }

    /// A transition that lasts a minute without a change.
    static func held(_ name: String, at progress: Double) -> WebImageTransition {
        let effect = named(name)
        return WebImageTransition(duration: 60) { effect.draw($0.at(progress)) }
    }
}
