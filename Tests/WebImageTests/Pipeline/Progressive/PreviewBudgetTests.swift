import TestSupport
import Testing

@testable import WebImage

@Suite struct PreviewBudgetTests {
    @Test func `The first preview is made whatever it costs`() {
        var budget = PreviewBudget()
        #expect(budget.allowsPreview(fraction: 0) && budget.allowsPreview(fraction: 0.01))
        budget.noteDecode(1)
        #expect(budget.allowsPreview(fraction: 0.01))
    }

    @Test func `Further ones wait until all together are a quarter of the decode`() {
        var budget = PreviewBudget()
        budget.noteDecode(1)
        budget.notePreview(1)
        #expect(!budget.allowsPreview(fraction: 0))
        budget.noteDecode(6.9)
        #expect(!budget.allowsPreview(fraction: 0))
        budget.noteDecode(0.1)
        #expect(budget.allowsPreview(fraction: 0), "8 seconds of decoding, one preview made and one to come")
    }

    @Test func `What is still to come counts, at the pace so far`() {
        var budget = PreviewBudget()
        budget.noteDecode(1)
        budget.notePreview(1)
        #expect(!budget.allowsPreview(fraction: 0.2))
        #expect(budget.allowsPreview(fraction: 0.125))
        #expect(!budget.allowsPreview(fraction: 7), "more than all is all")
    }

    @Test func `Previews that cost nothing are always made`() {
        var budget = PreviewBudget()
        for _ in 0..<100 {
            #expect(budget.allowsPreview(fraction: 0.5))
            budget.noteDecode(0)
            budget.notePreview(0)
        }
        budget.noteDecode(-5)
        budget.notePreview(-5)
        #expect(budget.allowsPreview(fraction: 0.5))
    }

    @Test func `However it goes, all but the first cost no more than a quarter`() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<100 {
            var budget = PreviewBudget()
            let cost = Double.random(in: 0.01...3, using: &generator)
            var previews = 0.0
            for step in 1...100 {
                budget.noteDecode(0.1)
                if budget.allowsPreview(fraction: Double(step) / 100) {
                    previews += cost
                    budget.notePreview(cost)
                }
            }
            #expect(previews <= max(cost, 10 * PreviewBudget.share + 1e-9))
        }
    }
}
