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

func callbacks(url: URL) {
    // snippet: callbacks
    let operation = WebImageManager.shared.loadImage(with: url) { progress in
        print(progress.fraction)  // on a background thread
    } completion: { result in
        // On the main thread, once, by default; within this very call when the picture was in memory.
        switch result {
        case .success(let result): show(result.image.bitmap)  // width, height, bytesPerRow, pixelFormat, bytes
        case .failure(let error): show(error)
        }
    }
    operation.cancel()
    // end
}
