import FoundationEssentials
import Glibc
import WebImage

guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[1]) else { exit(64) }
var context = WebImageContext()
context.thumbnailPixelSize = ImageSize(width: 400, height: 300)
do {
    let image = try await WebImageManager.shared.image(with: url, context: context)
    try await image.encoded(as: .jpeg).write(to: URL(fileURLWithPath: CommandLine.arguments[2]))
    WebImageLifecycle.willTerminate()
} catch {
    print(error)
    exit(1)
}
