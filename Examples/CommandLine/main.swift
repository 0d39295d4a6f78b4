import FoundationEssentials
import WebImage

let words = CommandLine.arguments
guard words.count == 3, let url = URL(string: words[1]) else { fatalError("usage: CommandLine URL FILE.jpg") }
var context = WebImageContext()
context.thumbnailPixelSize = ImageSize(width: 400, height: 300)
let image = try await WebImageManager.shared.image(with: url, context: context)
try await image.encoded(as: .jpeg).write(to: URL(fileURLWithPath: words[2]))
WebImageLifecycle.willTerminate()
