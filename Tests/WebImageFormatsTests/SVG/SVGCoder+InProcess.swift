import WebImage
import WebImageFormats
import WebImageRAW
import WebImageSVG

extension SVGCoder {
    /// Draws documents of any length in the test's own process.
    static let inProcess = SVGCoder(maximumInProcessByteCount: .max)
}

extension ImageCodersManager {
    /// The coders of all formats, all decoding in the test's own process.
    static func allInProcess() -> ImageCodersManager {
        let manager = ImageCodersManager()
        manager.add(SVGCoder.inProcess)
        manager.add(RAWCoder())
        WebImageFormats.registerAll(in: manager)
        return manager
    }
}
