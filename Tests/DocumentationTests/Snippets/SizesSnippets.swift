import FoundationEssentials
import WebImage

enum SizesSnippets {
    static func reuse(url: URL) {
        // snippet: size reuse
        let manager = WebImageManager.shared
        manager.sizeReuse = .memory
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: 160, height: 160)
        manager.loadImage(with: url, context: context) { result in
            guard case .success(let loaded) = result else { return }
            show(loaded.image)
            print(loaded.isFinal ? "in the requested size" : "a preview in another size")
        }
        // end
    }

    static func reuseDisk() {
        // snippet: size reuse on disk
        WebImageManager.shared.sizeReuse = .disk
        // end
    }

    static func sources(small: URL, medium: URL, large: URL) async throws {
        // snippet: sources
        let source = ImageSource.candidates([
            (url: small, size: .width(320)),
            (url: medium, size: .width(800)),
            (url: large, size: .width(1600)),
        ])
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: 600, height: 600)
        let image = try await WebImageManager.shared.image(with: source, context: context)
        // end
        show(image)
    }
}
