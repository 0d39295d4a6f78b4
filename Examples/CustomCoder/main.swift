// Converts an image to farbfeld and loads the file like any other image: CustomCoder IMAGE FILE.ff
import FoundationEssentials
import Glibc
import WebImage

let paths = CommandLine.arguments.dropFirst().map { URL(fileURLWithPath: $0) }
guard paths.count == 2 else {
    print("usage: CustomCoder IMAGE FILE.ff")
    exit(64)
}
// From here on, everything that decodes or encodes knows the format: loads, caches, views.
ImageCodersManager.shared.add(FarbfeldCoder())

// Files on this machine need no copy in the disk cache.
var context = WebImageContext()
context.storeCacheType = .memory
context.originalStoreCacheType = ImageCacheType.none
do {
    let image = try await WebImageManager.shared.image(with: paths[0], context: context)
    try await image.encoded(as: .farbfeld).write(to: paths[1])

    let written = try await WebImageManager.shared.image(with: paths[1], context: context)
    print("\(paths[1].path): \(written.pixelWidth)×\(written.pixelHeight) pixels")
    context.thumbnailPixelSize = ImageSize(width: 100, height: 100)
    let thumbnail = try await WebImageManager.shared.image(with: paths[1], context: context)
    print("thumbnail: \(thumbnail.pixelWidth)×\(thumbnail.pixelHeight) pixels")
} catch {
    print("\(error)")
    exit(1)
}
