import FoundationEssentials
import WebImage

// snippet: server
func thumbnail(of url: URL) async throws -> Data {
    var context = WebImageContext()
    context.thumbnailPixelSize = ImageSize(width: 400, height: 300)
    let image = try await WebImageManager.shared.image(with: url, context: context)
    var options = ImageEncodeOptions()
    options.compressionQuality = 0.85
    return try await image.encoded(as: .jpeg, options: options)
}
// end
