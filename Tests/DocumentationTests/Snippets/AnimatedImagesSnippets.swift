import FoundationEssentials
import WebImage

enum AnimatedImagesSnippets {
    @MainActor static func player(_ image: Image) {
        // snippet: player
        guard let player = AnimatedImagePlayer(image: image) else { return show(image) }
        player.animationFrameHandler = { _, frame in show(frame) }
        player.maxBufferSize = 20 << 20
        player.playbackRate = 1.5
        player.startPlaying()  // then call player.update(at: seconds) for every frame of the display
        // end
    }

    static func sequence(_ images: [Image]) async throws -> Data? {
        // snippet: sequence
        let frames = images.map { ImageFrame(image: $0, duration: 0.04) }
        guard let animation = ImageFrameSequence(frames: frames, loopCount: 3) else { return nil }
        return try await animation.encoded(as: .webp)
        // end
    }

    static func previews(url: URL) async throws {
        // snippet: previews
        for try await case .result(let result) in WebImageManager.shared.events(with: url, options: .progressiveLoad) {
            show(result.image)
            if result.image.metadata.isIncremental { print("there is more to come") }
        }
        // end
    }

    static func placeholder(url: URL) async throws {
        // snippet: placeholder
        let key = WebImageManager.shared.cacheKey(for: url)
        if let hash = await ImageCache.shared.thumbHash(forKey: key) { show(try hash.makeImage()) }
        show(try await WebImageManager.shared.image(with: url))
        // end
    }

    static func blurHash(_ hash: String, _ aspectRatio: Double) throws {
        // snippet: blurHash
        let placeholder = try BlurHash(hash)  // "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
        show(try placeholder.makeImage(width: 32, height: Int(32 / aspectRatio), punch: 1.2))
        // end
    }
}
