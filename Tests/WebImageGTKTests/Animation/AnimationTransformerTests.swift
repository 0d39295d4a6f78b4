import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Exchanges red and blue, and counts.
private final class Exchange: ImageTransformer {
    let transformerKey: String
    private let counter = Lock(0)

    init(_ key: String = "exchange") { transformerKey = key }

    var count: Int { counter.withLock { $0 } }

    func transform(_ image: Image) throws(WebImageError) -> Image {
        counter.withLock { $0 += 1 }
        let bitmap = try Bitmap.allocate(
            width: image.pixelWidth,
            height: image.pixelHeight,
            pixelFormat: .bgra8Premultiplied
        )
        let source = image.bitmap
        source.withUnsafeBytes { bytes in
            for row in 0..<source.height {
                let target = bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
                for x in 0..<source.width {
                    let place = row * source.bytesPerRow + x * 4
                    for (index, channel) in [2, 1, 0, 3].enumerated() { target[x * 4 + index] = bytes[place + channel] }
                }
            }
        }
        return Image(bitmap: bitmap)
    }
}

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct AnimationTransformerTests {
    @Test func `Each frame is transformed, and the original is never displayed`() async throws {
        let stage = try await AnimationStage()
        let background = try await stage.middle()
        let transformer = Exchange()
        stage.view.animationTransformer = transformer
        #expect(stage.view.animationTransformer?.transformerKey == "exchange")
        stage.show(try ColorFrames().image())
        #expect(try stage.window.pixels(of: UnsafeMutableRawPointer(stage.picture)).middle == background)
        #expect(await stage.reaches(0))
        #expect(try await stage.middle() == ColorFrames.blue)
        #expect(await stage.plays(to: 1))
        #expect(try await stage.middle() == ColorFrames.green)
        #expect(await stage.plays(to: 2))
        #expect(try await stage.middle() == ColorFrames.red)
        #expect(transformer.count >= 3)
        stage.window.close()
    }

    @Test func `The poster is transformed before playback, too`() async throws {
        let stage = try await AnimationStage()
        stage.view.animationTransformer = Exchange()
        stage.view.autoPlayAnimatedImage = false
        stage.show(try ColorFrames().image())
        #expect(await stage.reaches(0))
        #expect(!stage.view.isAnimating)
        #expect(try await stage.middle() == ColorFrames.blue)
        stage.window.close()
    }

    @Test func `A transformer set or removed during playback changes the displayed frame`() async throws {
        let stage = try await AnimationStage()
        stage.show(try ColorFrames().image())
        #expect(await stage.reaches(0))
        for index in [1, 2] { #expect(await stage.plays(to: index)) }
        for (transformer, color) in [(Exchange(), ColorFrames.red), (nil, ColorFrames.blue)] {
            stage.view.animationTransformer = transformer
            stage.takeClock()
            #expect(stage.view.isAnimating && stage.view.currentFrameIndex == 2)
            let former = stage.view.currentFrame
            #expect(
                await MainLoopTurns.wait {
                    stage.link.advance()
                    return stage.view.currentFrame !== former
                }
            )
            #expect(stage.view.currentFrameIndex == 2)
            #expect(try await stage.middle() == color)
        }
        #expect(await stage.plays(to: 3))
        stage.window.close()
    }

    @Test func `Views whose transformers have the same key share transformed frames`() async throws {
        let stages = [try await AnimationStage(), try await AnimationStage()]
        let transformers = [Exchange(), Exchange()]
        let image = try ColorFrames().image()
        for (stage, transformer) in zip(stages, transformers) {
            stage.view.maxBufferSize = .max
            stage.view.animationTransformer = transformer
            stage.show(image)
        }
        #expect(stages[0].view.player?.provider === stages[1].view.player?.provider)
        #expect(TransformedAnimations.count == 1)
        for index in 0..<4 {
            for stage in stages {
                if index > 0 { stage.link.advance(0.1) }
                #expect(await stage.reaches(index))
            }
        }
        #expect(transformers.reduce(0) { $0 + $1.count } == 4)
        stages[1].view.animationTransformer = Exchange("another")
        #expect(stages[0].view.player?.provider !== stages[1].view.player?.provider)
        for stage in stages { stage.window.close() }
        #expect(await MainLoopTurns.wait { TransformedAnimations.count == 0 })
    }
}
