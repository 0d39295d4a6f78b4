import WebImage

enum IsolationSnippets {
    static func places() -> WebImageContext {
        // snippet: isolated decoding
        let manager = WebImageManager.shared
        // Every format.
        manager.decoding = .isolated
        // SVG, PDF, videos, HEIC, HEIF, AVIF, JPEG XL, TIFF and raw files of cameras.
        manager.decoding = .isolated(.risky)

        var isolation = DecodeIsolation.risky
        isolation.maximumDecodeDuration = 2
        // The first image need not wait for a worker to start.
        isolation.prepare()
        // For one load.
        var context = WebImageContext()
        context.decoding = .isolated(isolation)
        // end
        return context
    }
}
