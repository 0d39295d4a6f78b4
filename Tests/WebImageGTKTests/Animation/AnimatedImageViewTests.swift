import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct AnimatedImageViewTests {
    @Test func `The properties have SDWebImage's defaults, and nothing plays before there is an image`() async throws {
        let stage = try await AnimationStage()
        let view = stage.view
        #expect(view.player == nil && view.currentFrame == nil && view.currentFrameIndex == 0)
        #expect(view.currentLoopCount == 0 && !view.isAnimating && !view.shouldCustomLoopCount)
        #expect(view.animationRepeatCount == 0 && view.playbackRate == 1 && view.playbackMode == .normal)
        #expect(view.maxBufferSize == 0 && view.shouldIncrementalLoad && !view.clearBufferWhenStopped)
        #expect(!view.resetFrameIndexWhenStopped && view.autoPlayAnimatedImage && view.animationTransformer == nil)
        view.startAnimating()
        view.stopAnimating()
        view.seek(toFrameAt: 1)
        view.playbackRate = .infinity
        (view.animationRepeatCount, view.maxBufferSize) = (-1, -1)
        #expect(view.playbackRate == 1 && view.animationRepeatCount == 0 && view.maxBufferSize == 0)
        stage.window.close()
    }

    @Test func `An animated image plays, a still one does not, and each image has its own player`() async throws {
        let stage = try await AnimationStage()
        let image = try ColorFrames().image()
        stage.show(image)
        weak let first = stage.view.player
        #expect(first?.isPlaying == true && stage.view.currentFrame == nil)
        #expect(await stage.reaches(0))
        #expect(stage.view.currentFrame === image.animation?.image)
        #expect(await stage.plays(to: 1))
        stage.show(image)
        #expect(stage.view.player === first && stage.view.currentFrameIndex == 1, "the same image plays on")
        stage.show(try ColorFrames([ColorFrames.blue, ColorFrames.red]).image())
        #expect(first == nil && stage.view.player != nil && stage.view.currentFrameIndex == 0)
        #expect(try await stage.middle() == ColorFrames.blue)
        stage.show(try ColorFrames([ColorFrames.green]).image())
        #expect(stage.view.player == nil && !stage.link.isRunning)
        #expect(try await stage.middle() == ColorFrames.green)
        stage.show(nil)
        #expect(stage.view.player == nil)
        stage.window.close()
    }

    @Test func `A view that starts with an animation plays it`() async throws {
        let stage = try await AnimationStage()
        let image = try ColorFrames().image()
        stage.picture.setImage(with: nil, placeholder: .image(image))
        stage.takeClock()
        #expect(stage.view.isAnimating && stage.view.player?.totalFrameCount == image.animation?.frameCount)
        #expect(await stage.reaches(0))
        #expect(await stage.plays(to: 1))
        stage.window.close()
    }

    @Test func `Every property reaches the player, whether set before or after the image`() async throws {
        let stage = try await AnimationStage()
        let view = stage.view
        for isBefore in [true, false] {
            let frames = ColorFrames(loops: 3)
            if !isBefore { stage.show(try frames.image()) }
            (view.playbackRate, view.playbackMode, view.maxBufferSize) = (2, .bounce, 5000)
            (view.shouldCustomLoopCount, view.animationRepeatCount) = (false, 7)
            if isBefore { stage.show(try frames.image()) }
            let player = try #require(view.player)
            #expect(player.playbackRate == 2 && player.playbackMode == .bounce && player.maxBufferSize == 5000)
            #expect(player.totalLoopCount == 3, "the image says")
            view.shouldCustomLoopCount = true
            #expect(player.totalLoopCount == 7)
            view.animationRepeatCount = 9
            #expect(player.totalLoopCount == 9)
            view.shouldCustomLoopCount = false
            #expect(player.totalLoopCount == 3)
            (view.playbackRate, view.playbackMode, view.maxBufferSize) = (1, .normal, 0)
        }
        stage.window.close()
    }

    @Test func `The playback rate and mode are obeyed`() async throws {
        let stage = try await AnimationStage()
        (stage.view.playbackMode, stage.view.playbackRate) = (.reverse, 2)
        stage.show(try ColorFrames().image())
        #expect(await stage.reaches(3))
        #expect(try await stage.middle() == ColorFrames.white)
        for index in [2, 1] { #expect(await stage.plays(to: index, after: 0.05)) }
        stage.link.advance(0.04)
        #expect(stage.view.currentFrameIndex == 1)
        #expect(await stage.plays(to: 0, after: 0.02))
        #expect(stage.shown == [3, 2, 1, 0])
        stage.view.playbackRate = 0
        stage.link.advance(0.1)
        #expect(!stage.view.isAnimating)
        stage.window.close()
    }

    @Test func `The animation ends after its loops with the last frame, and starts again when told to`() async throws {
        let stage = try await AnimationStage()
        stage.view.shouldCustomLoopCount = true
        stage.view.animationRepeatCount = 2
        stage.show(try ColorFrames([ColorFrames.red, ColorFrames.green]).image())
        #expect(await stage.reaches(0))
        for index in [1, 0, 1] { #expect(await stage.plays(to: index)) }
        #expect(stage.loops == [1] && stage.view.currentLoopCount == 1)
        stage.link.advance(0.1)
        #expect(stage.loops == [1, 2] && stage.view.currentLoopCount == 2)
        #expect(!stage.view.isAnimating && !stage.link.isRunning && stage.view.currentFrameIndex == 1)
        #expect(try await stage.middle() == ColorFrames.green)
        gtk_widget_set_visible(UnsafeMutableRawPointer(stage.picture).widget, 0)
        gtk_widget_set_visible(UnsafeMutableRawPointer(stage.picture).widget, 1)
        #expect(await MainLoopTurns.wait { gtk_widget_get_mapped(UnsafeMutableRawPointer(stage.picture).widget) != 0 })
        #expect(!stage.view.isAnimating, "becoming visible does not start it")
        stage.view.startAnimating()
        #expect(stage.view.isAnimating)
        #expect(await stage.reaches(0))
        #expect(try await stage.middle() == ColorFrames.red)
        stage.window.close()
    }

    @Test func `Without autoPlay the animation waits to be started`() async throws {
        let stage = try await AnimationStage()
        stage.view.autoPlayAnimatedImage = false
        stage.show(try ColorFrames().image())
        #expect(stage.view.player != nil && !stage.view.isAnimating && !stage.link.isRunning)
        #expect(try await stage.middle() == ColorFrames.red, "the first frame is there")
        stage.view.startAnimating()
        #expect(stage.view.isAnimating)
        #expect(await stage.reaches(0))
        #expect(await stage.plays(to: 1))
        stage.window.close()
    }

    @Test(arguments: [false, true])
    func `A stopped animation keeps its frame, and resumes there or at the beginning`(resets: Bool) async throws {
        let stage = try await AnimationStage()
        stage.view.resetFrameIndexWhenStopped = resets
        stage.show(try ColorFrames().image())
        #expect(await stage.reaches(0))
        #expect(await stage.plays(to: 1))
        stage.view.stopAnimating()
        #expect(!stage.view.isAnimating && !stage.link.isRunning)
        #expect(stage.view.currentFrameIndex == 1 && stage.view.currentFrame != nil)
        #expect(try await stage.middle() == ColorFrames.green)
        let widget = UnsafeMutableRawPointer(stage.picture).widget
        gtk_widget_set_visible(widget, 0)
        gtk_widget_set_visible(widget, 1)
        #expect(await MainLoopTurns.wait { gtk_widget_get_mapped(widget) != 0 })
        #expect(!stage.view.isAnimating, "a stopped animation stays stopped")
        stage.view.startAnimating()
        if resets {
            #expect(await stage.reaches(0))
        } else {
            stage.link.advance()
            #expect(await stage.plays(to: 2))
        }
        stage.window.close()
    }

    @Test(arguments: [false, true])
    func `A stopped animation keeps or releases its decoded frames`(clears: Bool) async throws {
        let stage = try await AnimationStage()
        let frames = ColorFrames()
        stage.view.clearBufferWhenStopped = clears
        stage.view.maxBufferSize = .max
        stage.show(try frames.image())
        #expect(await stage.reaches(0))
        for index in [1, 2, 3, 0, 1] { #expect(await stage.plays(to: index)) }
        #expect(frames.requests == [0, 1, 2, 3])
        stage.view.stopAnimating()
        stage.view.startAnimating()
        stage.link.advance()
        for index in [2, 3, 0, 1] { #expect(await stage.plays(to: index)) }
        #expect(frames.requests.count == (clears ? 8 : 4))
        stage.window.close()
    }

    @Test func `Seeking shows a frame without playing, and playback continues there`() async throws {
        let stage = try await AnimationStage()
        stage.view.autoPlayAnimatedImage = false
        stage.show(try ColorFrames().image())
        stage.view.seek(toFrameAt: 2, loopCount: 5)
        #expect(await stage.reaches(2))
        #expect(!stage.view.isAnimating && stage.view.currentLoopCount == 5)
        #expect(try await stage.middle() == ColorFrames.blue)
        stage.view.seek(toFrameAt: 4)
        stage.view.seek(toFrameAt: -1)
        #expect(stage.view.currentFrameIndex == 2 && stage.view.currentLoopCount == 5)
        stage.view.startAnimating()
        stage.link.advance()
        #expect(await stage.plays(to: 3))
        stage.window.close()
    }

    @Test func `An AnimatedImageView does not retain its view, and has no effect without it`() async throws {
        let before = ViewState.count
        let stage = try await AnimationStage()
        stage.show(try ColorFrames().image())
        #expect(await stage.reaches(0))
        weak let player = stage.view.player
        stage.view.playbackRate = 3
        stage.window.close()
        #expect(await MainLoopTurns.wait { ViewState.count == before })
        #expect(player == nil && stage.view.player == nil && stage.view.playbackRate == 1)
        stage.view.playbackRate = 2
        stage.view.startAnimating()
        #expect(!stage.view.isAnimating && stage.view.playbackRate == 1 && ViewState.count == before)
    }
}
