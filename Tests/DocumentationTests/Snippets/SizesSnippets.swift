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
}
