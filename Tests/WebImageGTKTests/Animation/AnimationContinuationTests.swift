import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct AnimationContinuationTests {
    let bench: ViewBench
    let told = Told()
    private let url = ViewBench.url("moving.gif")
    private static let name = "Animation/pillow.gif"

    init() throws { bench = try ViewBench() }

    private func load(_ stage: AnimationStage, _ options: WebImageOptions = .progressiveLoad) async throws {
        let told = told
        stage.picture.setImage(
            with: url,
            options: options,
            context: bench.context,
            completed: { told.results.append($0) }
        )
        try #require(await bench.loader.request(of: url))
    }

    /// The number of bytes with which each frame of a file is complete, but for the last one.
    private func frameEnds(_ data: Data) throws -> [Int] {
        let decoder = ImageCodersManager.shared.makeProgressiveDecoder(options: ImageDecodeOptions())
        var ends: [Int] = []
        for count in 1..<data.count {
            try decoder.update(data.prefix(count), isFinished: false)
            guard let image = try decoder.image(maximumPreviewPixelCount: .max) else { continue }
            // The first frame is shown before it is complete.
            if (image.animation?.frameCount ?? 1) > ends.count { ends.append(count) }
        }
        return ends
    }

    @Test(arguments: [
        "Animation/pillow.gif", "Animation/apng-rgba-5.png", "Animation/apng-hidden-default.png",
        "Animation/webp-3.webp",
    ])
    func `An arriving animation plays the received frames, waits there, and continues without a jump`(
        name: String
    ) async throws {
        let stage = try await AnimationStage()
        let data = try Fixtures.data(name)
        let count = try AnimatedImage(data: data).frameCount
        let ends = try frameEnds(data)
        try #require(ends.count >= 4 && count >= 6)
        try await load(stage)
        bench.loader.leave(data.prefix(ends[2]), url)
        try #require(await MainLoopTurns.wait { stage.view.player != nil })
        stage.takeClock()
        let first = try #require(stage.view.player)
        #expect(first.totalFrameCount >= 2 && first.totalFrameCount < count)
        let last = first.totalFrameCount - 1
        #expect(await stage.reaches(0))
        for index in 1...last { #expect(await stage.plays(to: index)) }
        stage.link.advance(10)
        #expect(!stage.view.isAnimating && stage.view.currentFrameIndex == last && stage.view.currentLoopCount == 0)
        #expect(stage.loops.isEmpty)
        let seen = try await stage.middle()
        stage.shown = []
        bench.loader.end(url, with: .success(data))
        try #require(await MainLoopTurns.wait { told.results.count == 1 })
        stage.takeClock()
        let whole = try #require(stage.view.player)
        #expect(whole !== first && whole.totalFrameCount == count && stage.view.isAnimating)
        #expect(try await stage.middle() == seen, "the displayed frame stays")
        #expect(await stage.reaches(last))
        for index in (last + 1)..<count { #expect(await stage.plays(to: index)) }
        #expect(stage.shown == Array(last..<count), "none was skipped, and it did not start again")
        stage.window.close()
    }

    @Test func `Data received during playback waits until it is needed`() async throws {
        let stage = try await AnimationStage()
        let data = try Fixtures.data(Self.name)
        let ends = try frameEnds(data)
        try await load(stage)
        let decoder = GIFCoder().makeProgressiveDecoder(options: ImageDecodeOptions())
        func arrive(_ byteCount: Int) throws {
            try decoder.update(data.prefix(byteCount), isFinished: false)
            let load = try #require(stage.state.slots[.image]?.load)
            let preview = try #require(try decoder.image(maximumPreviewPixelCount: .max))
            #expect(preview.metadata.isIncremental)
            let content = try #require(PaintableContent(preview))
            // The effect of a delivery.
            stage.state.continuingAnimation(of: load) { load.setter(content, nil) }
        }
        try arrive(ends[1] - 1)
        #expect(stage.view.player == nil && stage.state.paintable.content != nil, "one frame does not move")
        try arrive(ends[2])
        stage.takeClock()
        let first = try #require(stage.view.player)
        let last = first.totalFrameCount - 1
        #expect(await stage.reaches(0))
        try arrive(ends[4])
        #expect(stage.state.paintable.content?.image?.animation?.frameCount ?? 0 > first.totalFrameCount)
        #expect(stage.view.player === first)
        for index in 1...last { #expect(await stage.plays(to: index)) }
        stage.link.advance(10)
        let next = try #require(stage.view.player)
        #expect(next !== first && next.totalFrameCount > first.totalFrameCount && stage.view.isAnimating)
        stage.takeClock()
        stage.shown = []
        #expect(await stage.reaches(last))
        #expect(await stage.plays(to: last + 1))
        stage.picture.cancelCurrentImageLoad()
        stage.window.close()
    }

    @Test(arguments: [AnimationPlaybackMode.normal, .reverse])
    func `Without incremental loading, or in reverse, a view waits for the whole image`(mode: AnimationPlaybackMode)
        async throws
    {
        let stage = try await AnimationStage()
        let data = try Fixtures.data(Self.name)
        if mode == .normal { stage.view.shouldIncrementalLoad = false }
        stage.view.playbackMode = mode
        try await load(stage)
        bench.loader.leave(data.prefix(try frameEnds(data)[3]), url)
        #expect(await MainLoopTurns.wait { stage.state.paintable.content?.image?.animation != nil })
        #expect(stage.view.player == nil)
        bench.loader.end(url, with: .success(data))
        try #require(await MainLoopTurns.wait { told.results.count == 1 })
        #expect(stage.view.isAnimating && stage.view.player?.totalFrameCount == 6)
        stage.window.close()
    }

    @Test func `A different image in the same slot starts again`() async throws {
        let stage = try await AnimationStage()
        try await load(stage, [])
        bench.loader.end(url, with: .success(try Fixtures.data(Self.name)))
        try #require(await MainLoopTurns.wait { stage.view.player != nil })
        stage.takeClock()
        #expect(await stage.reaches(0))
        #expect(await stage.plays(to: 1))
        let other = ViewBench.url("other.gif")
        stage.picture.setImage(with: other, options: .delayPlaceholder, context: bench.context, completed: nil)
        try #require(await bench.loader.request(of: other))
        #expect(await stage.plays(to: 2), "until it is there the old one plays")
        bench.loader.end(other, with: .success(try Fixtures.data(Self.name)))
        let former = try #require(stage.view.player)
        #expect(await MainLoopTurns.wait { stage.view.player !== former })
        #expect(stage.view.currentFrameIndex == 0)
        stage.window.close()
    }

    @Test func `The same image set again continues at the displayed frame`() async throws {
        let stage = try await AnimationStage()
        try await load(stage, [])
        bench.loader.end(url, with: .success(try Fixtures.data(Self.name)))
        try #require(await MainLoopTurns.wait { stage.view.player != nil })
        stage.takeClock()
        #expect(await stage.reaches(0))
        #expect(await stage.plays(to: 1))
        let player = stage.view.player
        let seen = try await stage.middle()
        let told = told
        stage.picture.setImage(with: url, options: .delayPlaceholder, context: bench.context) {
            told.results.append($0)
        }
        #expect(told.codes == [nil, nil], "from memory, at once")
        #expect(stage.view.player === player && stage.view.currentFrameIndex == 1)
        guard case .texture = stage.state.paintable.frame else {
            Issue.record("its poster is shown")
            return
        }
        #expect(try await stage.middle() == seen)
        stage.window.close()
    }

    @Test func `When the view grows after a transition, the displayed frame gets more pixels`() async throws {
        let picture = ViewBench.makeImage()
        let raw = UnsafeMutableRawPointer(picture)
        let fixed = UnsafeMutableRawPointer(try #require(gtk_fixed_new()))
        gtk_fixed_put(fixed.assumingMemoryBound(to: GtkFixed.self), raw.widget, 0, 0)
        gtk_widget_set_size_request(raw.widget, 24, 18)
        let window = try await TestWindow(fixed, 200, 150)
        picture.imageTransition = .fade(duration: 0.05)
        picture.setImage(with: url, context: bench.context, completed: nil)
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(try Fixtures.data(Self.name)))
        let view = AnimatedImageView(picture)
        #expect(await MainLoopTurns.wait { view.currentFrameIndex == 2 })
        view.stopAnimating()
        #expect(view.currentFrame?.pixelWidth == 24)
        gtk_widget_set_size_request(raw.widget, 96, 72)
        #expect(await MainLoopTurns.wait { view.currentFrame?.pixelWidth == 48 })
        #expect(view.currentFrameIndex == 2 && !view.isAnimating)
        window.close()
    }

    @Test func `When the view grows playback continues with bigger frames`() async throws {
        let stage = try await AnimationStage()
        stage.view.autoPlayAnimatedImage = false
        var context = bench.context
        context.thumbnailPixelSize = ImageSize(width: 24, height: 18)
        stage.picture.setImage(with: url, context: context, completed: nil)
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(try Fixtures.data(Self.name)))
        try #require(await MainLoopTurns.wait { stage.view.player != nil })
        stage.takeClock()
        stage.view.startAnimating()
        #expect(await stage.reaches(0))
        for index in [1, 2] { #expect(await stage.plays(to: index)) }
        #expect(stage.view.currentFrame?.pixelWidth == 24)
        // As noteDrawn does, if the size were not that of the context.
        let shown = try #require(stage.state.shown)
        var request = shown.load.request
        request.isUpgrade = true
        let whole = try ImageCodersManager.shared.decode(Fixtures.data(Self.name), options: ImageDecodeOptions())
        let animation = try AnimatedImage(data: Fixtures.data(Self.name))
        let upgrade = ViewLoad(
            request,
            context: shown.load.context,
            slot: shown.load.slot,
            number: shown.load.number,
            state: stage.state,
            setter: shown.load.setter,
            showsInPaintable: true
        )
        let bigger = Image(bitmap: whole.bitmap, metadata: animation.image.metadata, animation: animation)
        let content = try #require(PaintableContent(bigger))
        stage.state.continuingAnimation(of: upgrade) { upgrade.setter(content, nil) }
        stage.takeClock()
        #expect(stage.view.currentFrame?.pixelWidth == 24 && stage.view.isAnimating)
        stage.shown = []
        #expect(
            await MainLoopTurns.wait {
                stage.link.advance()
                return stage.view.currentFrame?.pixelWidth == 48
            }
        )
        #expect(stage.shown == [2])
        #expect(await stage.plays(to: 3))
        stage.window.close()
    }
}
