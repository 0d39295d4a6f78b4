import CWebImageGTK4
import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// A manager with a loader that waits, its own cache, and images of one colour.
@MainActor
struct ViewBench {
    let loader = HeldLoader()
    let cache: ImageCache
    let manager: WebImageManager
    private let directory = TemporaryDirectory()

    init() throws {
        try Display.open()
        cache = ImageCache(directory: directory.path("cache"))
        manager = WebImageManager(cache: cache, loader: loader)
    }

    /// A context with the manager in it.
    var context: WebImageContext {
        var context = WebImageContext()
        context.customManager = manager
        return context
    }

    static func url(_ name: String) -> URL { URL(string: "https://example.test/\(name)") ?? URL(filePath: "/") }

    /// A BMP file of one colour.
    nonisolated static func picture(_ width: Int, _ height: Int, _ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Data {
        func long(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
        let row = (width * 3 + 3) / 4 * 4
        var bytes: [UInt8] = [0x42, 0x4D] + long(54 + row * height) + long(0) + long(54)
        bytes += long(40) + long(width) + long(height) + [1, 0, 24, 0] + long(0) + long(row * height)
        bytes += long(2835) + long(2835) + long(0) + long(0)
        let line = (0..<width).flatMap { _ in [blue, green, red] } + [UInt8](repeating: 0, count: row - width * 3)
        for _ in 0..<height { bytes += line }
        return Data(bytes)
    }

    nonisolated static let red = picture(40, 30, 255, 0, 0)
    nonisolated static let green = picture(40, 30, 0, 255, 0)
    nonisolated static let blue = picture(40, 30, 0, 0, 255)

    /// A `GtkPicture` without a parent.
    static func makeImage() -> OpaquePointer { OpaquePointer(gtk_picture_new()) }
}

/// The events of a view's load, in order.
@MainActor
final class Told {
    var results: [Result<WebImageResult, WebImageError>] = []
    var progress: [LoadProgress] = []

    var codes: [WebImageError.Code?] {
        results.map { if case .failure(let error) = $0 { error.code } else { nil } }
    }
}
