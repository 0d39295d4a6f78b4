import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

/// Drawing plans, compared with a canvas on which all frames are drawn from the first on.
@Suite(.tags(.addressSanitizer)) struct CompositionPlanTests {
    /// A canvas of 4 × 3 pixels, each of which holds the number of the frame that painted it; 0 is transparent.
    private struct Canvas: Equatable {
        static let (width, height) = (4, 3)
        var pixels = [Int](repeating: 0, count: width * height)
        var saved: [Int]?

        mutating func perform(_ step: CompositionPlan.Step, _ frames: [AnimationFrame]) {
            switch step {
            case .clear: self = Canvas()
            case .draw(let index, let saves):
                saved = saves ? pixels : nil
                paint(frames[index], index: index)
            case .erase(let index): fill(frames[index]) { _ in 0 }
            case .restore(let index):
                guard let saved else {
                    Issue.record("nothing was saved for frame \(index)")
                    return
                }
                fill(frames[index]) { saved[$0] }
            }
        }

        /// Every third pixel of a frame that is not opaque is transparent.
        private mutating func paint(_ frame: AnimationFrame, index: Int) {
            let before = pixels
            fill(frame) { place in
                guard !frame.isOpaque, (place + index) % 3 == 0 else { return index + 1 }
                return frame.replaces ? 0 : before[place]
            }
        }

        private mutating func fill(_ frame: AnimationFrame, _ value: (Int) -> Int) {
            for y in 0..<Self.height {
                for x in 0..<Self.width where frame.holds(x, y) {
                    pixels[y * Self.width + x] = value(y * Self.width + x)
                }
            }
        }
    }

    private static func frames(_ random: inout SeededGenerator) -> [AnimationFrame] {
        (0..<Int.random(in: 1...9, using: &random)).map { _ in
            let isWhole = Bool.random(using: &random)
            let left = isWhole ? 0 : Int.random(in: -1...3, using: &random)
            let top = isWhole ? 0 : Int.random(in: -1...2, using: &random)
            return AnimationFrame(
                left: left,
                top: top,
                width: isWhole ? Canvas.width : Int.random(in: 0...5, using: &random),
                height: isWhole ? Canvas.height : Int.random(in: 0...4, using: &random),
                duration: 0.1,
                disposal: [.keep, .background, .previous].randomElement(using: &random) ?? .keep,
                replaces: Bool.random(using: &random),
                isOpaque: Bool.random(using: &random)
            )
        }
    }

    /// The appearance of each frame when nothing is skipped.
    private static func sights(_ frames: [AnimationFrame]) -> [[Int]] {
        var canvas = Canvas()
        return frames.indices.map { index in
            canvas.perform(.draw(index, saves: true), frames)
            let sight = canvas.pixels
            switch frames[index].disposal {
            case .keep: break
            case .background: canvas.perform(.erase(index), frames)
            case .previous: canvas.perform(.restore(index), frames)
            }
            return sight
        }
    }

    @Test func `From any frame to any other, the result equals drawing all frames from the first on`() {
        for seed in UInt64(0)..<2_000 {
            var random = SeededGenerator(seed: seed)
            let frames = Self.frames(&random)
            let script = CompositionPlan(width: Canvas.width, height: Canvas.height, frames: frames)
            let sights = Self.sights(frames)
            var canvas = Canvas()
            var current: Int?
            for _ in 0..<12 {
                let target = Int.random(in: frames.indices, using: &random)
                for step in script.steps(to: target, from: current) { canvas.perform(step, frames) }
                current = target
                #expect(canvas.pixels == sights[target], "seed \(seed), frame \(target)")
            }
        }
    }

    @Test func `A frame marked as opaque has no transparent pixel`() {
        var opaqueCount = 0
        for seed in UInt64(0)..<5_000 {
            var random = SeededGenerator(seed: seed)
            let frames = Self.frames(&random)
            guard CompositionPlan(width: Canvas.width, height: Canvas.height, frames: frames).isOpaque else {
                continue
            }
            opaqueCount += 1
            #expect(Self.sights(frames).allSatisfy { !$0.contains(0) }, "seed \(seed)")
        }
        #expect(opaqueCount > 50)
    }

    @Test func `In order each frame is drawn once, and a repeated frame is not drawn again`() {
        let frames = (0..<5).map { _ in AnimationFrame(width: 2, height: 2, duration: 0.1) }
        let script = CompositionPlan(width: 4, height: 3, frames: frames)
        #expect(script.steps(to: 0, from: nil) == [.clear, .draw(0, saves: false)])
        for index in 1..<5 { #expect(script.steps(to: index, from: index - 1) == [.draw(index, saves: false)]) }
        #expect(script.steps(to: 3, from: 3).isEmpty)
        #expect(script.steps(to: 5, from: 0).isEmpty && script.steps(to: -1, from: nil).isEmpty)
    }

    @Test func `A jump begins at the nearest frame that needs none before it`() {
        var frames = (0..<10).map { _ in AnimationFrame(width: 2, height: 2, duration: 0.1) }
        frames[4] = AnimationFrame(width: 4, height: 3, duration: 0.1, isOpaque: true)
        frames[6] = AnimationFrame(width: 4, height: 3, duration: 0.1, disposal: .background)
        let script = CompositionPlan(width: 4, height: 3, frames: frames)
        #expect(script.steps(to: 5, from: 1) == [.clear, .draw(4, saves: false), .draw(5, saves: false)])
        #expect(script.steps(to: 8, from: 2).first == .clear)
        #expect(script.steps(to: 8, from: 2).dropFirst() == [.draw(7, saves: false), .draw(8, saves: false)])
        // Nearer to the current frame than to that one.
        #expect(script.steps(to: 9, from: 8) == [.draw(9, saves: false)])
    }

    @Test func `A frame that restores what it covers is drawn over that`() {
        var frames = (0..<3).map { _ in AnimationFrame(width: 2, height: 2, duration: 0.1) }
        frames[1] = AnimationFrame(width: 4, height: 3, duration: 0.1, disposal: .previous, isOpaque: true)
        let script = CompositionPlan(width: 4, height: 3, frames: frames)
        #expect(
            script.steps(to: 2, from: nil) == [
                .clear, .draw(0, saves: false), .draw(1, saves: true), .restore(1), .draw(2, saves: false),
            ]
        )
    }
}

extension AnimationFrame {
    fileprivate func holds(_ x: Int, _ y: Int) -> Bool {
        x >= left && x < left + width && y >= top && y < top + height
    }
}
