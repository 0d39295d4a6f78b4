import FoundationEssentials
import Testing
import WebImageTestSupport

// snippet: testing: avatar
@Suite @MainActor struct AvatarTests {
    let url = URL(string: "https://example.com/avatar.png")!
    let stub = StubTransport { Issue.record("unexpected request of \($0.url)") }

    @Test func `An avatar is shown, and downloaded once`() async throws {
        stub.respond(to: url, with: try .image(.solid(.white, width: 64, height: 64)))
        let model = AvatarModel(manager: WebImageManager(stub: stub))
        await model.load(url)
        await model.load(url)
        #expect(model.image?.pixelWidth == 64 && model.message == nil)
        #expect(stub.requests.map(\.url) == [url])
    }
}
// end

@Suite(.tags(.threadSanitizer)) @MainActor struct MoreAvatarTests {
    let url = AvatarTests().url
    let stub = AvatarTests().stub

    // snippet: testing: retry
    @Test func `An avatar is shown after two failures`() async throws {
        stub.respond(to: url, with: .failure(.networkConnectionLost), .status(503), try .image(.solid(.white)))
        var config = WebImageDownloaderConfig()
        config.retryPolicy = DownloadRetryPolicy()  // two retries
        let model = AvatarModel(manager: WebImageManager(stub: stub, config: config))
        async let loading: Void = model.load(url)
        await stub.clock.advanceToNextDelay()
        await stub.clock.advanceToNextDelay()
        await loading
        #expect(model.image != nil && model.message == nil && stub.requests.count == 3)
    }
    // end

    // snippet: testing: animation
    @Test func `The second frame follows after a tenth of a second`() async throws {
        stub.respond(to: url, with: try .image(.animated(frameCount: 3, frameDuration: 0.1), format: .gif))
        let image = try await WebImageManager(stub: stub).image(with: url, options: .preloadAllFrames)
        let player = try #require(AnimatedImagePlayer(image: image))
        player.startPlaying()
        player.update(at: 0)
        #expect(player.currentFrameIndex == 0)
        player.update(at: 0.11)
        #expect(player.currentFrameIndex == 1 && player.totalFrameCount == 3)
    }
    // end
}
