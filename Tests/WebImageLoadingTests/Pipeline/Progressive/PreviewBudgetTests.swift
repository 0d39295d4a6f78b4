import TestSupport
import Testing

@testable import WebImageLoading

@Suite struct PreviewBudgetTests {
    @Test func `The first preview is made whatever it costs`() {
        var budget = PreviewBudget()
        #expect(budget.allowsPreview(byteCount: 0, of: nil) && budget.allowsPreview(byteCount: 1, of: 100))
        budget.noteDecode(1)
        #expect(budget.allowsPreview(byteCount: 1, of: 100))
    }

    @Test func `A preview that fills in missing parts waits until they cost at most a quarter of the decode`() {
        var budget = PreviewBudget()
        budget.noteDecode(1)
        for (count, cost, isAllowed) in [
            (749, 1, false), (750, 1, true), (799, 1.25, false), (801, 1.25, true), (1, 0.2, true),
        ] {
            #expect(budget.allowsPreview(byteCount: count, of: 1000, missingPartCost: cost) == isAllowed, "\(count)")
        }
        for expected in [nil, 0, -5] as [Int64?] {
            #expect(!budget.allowsPreview(byteCount: 900, of: expected, missingPartCost: 1))
        }
        #expect(budget.allowsPreview(byteCount: 7000, of: 1000, missingPartCost: 1), "nothing is missing")
        budget.notePreview(0.2)
        #expect(!budget.allowsPreview(byteCount: 900, of: 1000, missingPartCost: 1), "earlier previews count")
        #expect(budget.allowsPreview(byteCount: 960, of: 1000, missingPartCost: 1))
    }

    @Test func `Further ones wait until all together are a quarter of the decode`() {
        var budget = PreviewBudget()
        budget.noteDecode(1)
        budget.notePreview(1)
        #expect(!budget.allowsPreview(byteCount: 500, of: nil))
        budget.noteDecode(6.9)
        #expect(!budget.allowsPreview(byteCount: 500, of: nil))
        budget.noteDecode(0.1)
        #expect(
            budget.allowsPreview(byteCount: 500, of: nil),
            "8 seconds of decoding, one preview made and one to come"
        )
    }

    @Test func `Time still to come counts, at the pace so far`() {
        var budget = PreviewBudget()
        budget.noteDecode(1)
        budget.notePreview(1)
        #expect(!budget.allowsPreview(byteCount: 200, of: 1000))
        #expect(budget.allowsPreview(byteCount: 125, of: 1000))
        #expect(!budget.allowsPreview(byteCount: 7000, of: 1000), "more than all is all")
    }

    @Test func `Each frame of an animation counts as a decode`() {
        var budget = PreviewBudget()
        budget.noteDecode(1)
        budget.notePreview(0.5)
        #expect(!budget.allowsPreview(byteCount: 900, of: 1000, frameCount: 3))
        #expect(budget.allowsPreview(byteCount: 900, of: 1000, frameCount: 4))
        #expect(budget.allowsPreview(byteCount: 100, of: 1000, frameCount: 3), "more are to come")
        for count in [1, 0, -7] { #expect(!budget.allowsPreview(byteCount: 900, of: nil, frameCount: count)) }
    }

    @Test func `An animation whose first frame is decoded for its first preview has more previews`() {
        var budget = PreviewBudget()
        budget.noteDecode(0.001)
        budget.notePreview(1)
        #expect(!budget.allowsPreview(byteCount: 900, of: 1000, frameCount: 1))
        #expect(!budget.allowsPreview(byteCount: 900, of: 1000, frameCount: 7))
        #expect(budget.allowsPreview(byteCount: 900, of: 1000, frameCount: 8))
        budget.notePreview(0.01)
        #expect(budget.allowsPreview(byteCount: 900, of: 1000, frameCount: 9))
        #expect(budget.allowsPreview(byteCount: 900, of: nil, frameCount: .max))
    }

    @Test func `For an unknown length the received bytes count as all`() {
        var budget = PreviewBudget()
        budget.noteDecode(1)
        budget.notePreview(1)
        for count in [0, 1, 1000, .max] {
            for expected in [nil, 0, -5] as [Int64?] { #expect(!budget.allowsPreview(byteCount: count, of: expected)) }
        }
        budget.noteDecode(7)
        for count in [0, 1, 1000, .max] { #expect(budget.allowsPreview(byteCount: count, of: nil)) }
    }

    @Test func `Previews without a cost are always made`() {
        var budget = PreviewBudget()
        for _ in 0..<100 {
            #expect(budget.allowsPreview(byteCount: 50, of: 100))
            budget.noteDecode(0)
            budget.notePreview(0)
        }
        budget.noteDecode(-5)
        budget.notePreview(-5)
        #expect(budget.allowsPreview(byteCount: 50, of: 100))
    }

    @Test func `In every case all but the first cost at most a quarter`() {
        var generator = SeededGenerator(seed: 3)
        for round in 0..<100 {
            let isKnown = round % 2 == 0
            var budget = PreviewBudget()
            let cost = Double.random(in: 0.01...3, using: &generator)
            var previews = 0.0
            for step in 1...100 {
                budget.noteDecode(0.1)
                if budget.allowsPreview(byteCount: step, of: isKnown ? 100 : nil) {
                    previews += cost
                    budget.notePreview(cost)
                }
            }
            #expect(previews <= max(cost, 10 * PreviewBudget.share + 1e-9))
        }
    }
}
