import FoundationEssentials
import WebImage

/// The decoded watermark of a server. Transformers name it by the hash of its bytes.
struct ServerWatermark: Sendable {
    let image: Image
    /// The factor of the opacity that requests name.
    let opacity: Double

    /// Loads the watermark. Blocks the thread, for a URL until it has been loaded.
    ///
    /// - Returns: Nil if the configuration has none.
    /// - Throws: ``ServerStartError`` if it cannot be loaded.
    init?(_ configuration: ImageServerConfiguration, _ manager: WebImageManager) throws(ServerStartError) {
        guard let place = configuration.watermark else { return nil }
        opacity = configuration.watermarkOpacity
        do {
            switch place {
            case .file(let path): image = try Self.decoded(try Data(contentsOf: URL(fileURLWithPath: path)))
            case .data(let bytes): image = try Self.decoded(Data(bytes))
            case .url(let text):
                guard let url = URL(string: text) else { throw WebImageError(.invalidURL, "invalid URL '\(text)'") }
                image = try Self.loaded(url, manager, seconds: configuration.timeout)
            }
        } catch {
            throw ServerStartError("the watermark cannot be loaded: \(error)")
        }
    }

    private static func decoded(_ data: Data) throws(WebImageError) -> Image {
        var options = ImageDecodeOptions()
        options.decodeFirstFrameOnly = true
        let image = try ImageCodersManager.shared.decode(data, options: options)
        var metadata = image.metadata
        metadata.sourceHash = data.withUnsafeBytes { Hashing.xxh3($0) }
        return image.with(metadata: metadata)
    }

    private static func loaded(_ url: URL, _ manager: WebImageManager, seconds: Double) throws(WebImageError) -> Image {
        let result = ConditionLock<Result<Image, WebImageError>?>(nil)
        var context = WebImageContext()
        context.callbackQueue = .inline
        let load = manager.loadImage(with: url, options: .decodeFirstFrameOnly, context: context) { outcome in
            result.withLock { $0 = outcome.map(\.image) }
            result.broadcast()
        }
        guard let outcome = result.wait(seconds: seconds, until: { $0 }) else {
            load.cancel()
            throw WebImageError(.timedOut, "no answer within \(seconds) s", url: url)
        }
        return try outcome.get()
    }
}
