import TestSupport
import Testing

@testable import WebImage

@Suite struct PrefetchBookTests {
    /// Takes as many items as may start.
    private func startAll(_ book: inout PrefetchBook) -> [PrefetchBook.Start] {
        var starts: [PrefetchBook.Start] = []
        while let start = book.startNext() { starts.append(start) }
        return starts
    }

    @Test func `Items start in the order of the list, and no more than allowed`() {
        var book = PrefetchBook(width: 2)
        let list = book.add(count: 5, priority: .low)
        let starts = startAll(&book)
        #expect(starts.map(\.index) == [0, 1])
        #expect(starts.allSatisfy { $0.list == list })
        #expect(book.runningCount == 2 && book.waitingCount == 3)
        #expect(book.finish(starts[0].item, isSkipped: false)?.index == 0)
        #expect(startAll(&book).map(\.index) == [2])
    }

    @Test func `More may run at once while items wait`() {
        var book = PrefetchBook(width: 1)
        _ = book.add(count: 4, priority: .low)
        #expect(startAll(&book).count == 1)
        book.width = 3
        #expect(startAll(&book).count == 2)
        book.width = 0
        #expect(startAll(&book).isEmpty)
    }

    @Test func `Nothing starts while suspended`() {
        var book = PrefetchBook(width: 3)
        book.isSuspended = true
        _ = book.add(count: 2, priority: .high)
        #expect(startAll(&book).isEmpty)
        book.isSuspended = false
        #expect(startAll(&book).count == 2)
    }

    @Test func `The more urgent list goes first, and one that becomes urgent`() {
        var book = PrefetchBook(width: 1)
        let slow = book.add(count: 2, priority: .low)
        let quick = book.add(count: 1, priority: .normal)
        let first = startAll(&book)[0]
        #expect(first.list == quick)
        let third = book.add(count: 1, priority: .normal)
        #expect(book.setPriority(.high, of: slow) == [])
        _ = book.finish(first.item, isSkipped: false)
        var order: [UInt64] = []
        while let start = book.startNext() {
            order.append(start.list)
            _ = book.finish(start.item, isSkipped: false)
        }
        #expect(order == [slow, slow, third])
    }

    @Test func `A change of priority names what runs, once`() {
        var book = PrefetchBook(width: 2)
        let list = book.add(count: 3, priority: .low)
        let running = startAll(&book).map(\.item)
        #expect(book.setPriority(.high, of: list) == running)
        #expect(book.setPriority(.high, of: list) == [])
        #expect(book.priority(of: running[0]) == .high)
        #expect(book.setPriority(.low, of: 999) == [])
    }

    @Test func `Skipped items are finished too, and sums are over all lists`() {
        var book = PrefetchBook(width: 9)
        let one = book.add(count: 2, priority: .low)
        _ = book.add(count: 3, priority: .low)
        let items = startAll(&book)
        let first = book.finish(items[0].item, isSkipped: true)
        #expect(first?.progress == PrefetchProgress(finishedCount: 1, skippedCount: 1, totalCount: 2))
        #expect(first?.sum == PrefetchProgress(finishedCount: 1, skippedCount: 1, totalCount: 5))
        let second = book.finish(items[1].item, isSkipped: false)
        #expect(second?.progress.isComplete == true && second?.isLastList == false)
        #expect(second?.list == one)
        let third = book.finish(items[2].item, isSkipped: false)
        #expect(third?.sum == PrefetchProgress(finishedCount: 1, totalCount: 3))
        #expect(third?.isLastList == true && third?.progress.isComplete == false)
    }

    @Test func `An item ends once`() {
        var book = PrefetchBook(width: 1)
        _ = book.add(count: 1, priority: .low)
        let item = startAll(&book)[0].item
        #expect(book.finish(item, isSkipped: false) != nil)
        #expect(book.finish(item, isSkipped: false) == nil)
    }

    @Test func `A cancelled list gives back what runs, and nothing of it starts or ends`() {
        var book = PrefetchBook(width: 2)
        let list = book.add(count: 4, priority: .low)
        let items = startAll(&book).map(\.item)
        _ = book.finish(items[0], isSkipped: false)
        let stopped = book.cancel(list)
        #expect(stopped?.running == [items[1]])
        #expect(stopped?.progress == PrefetchProgress(finishedCount: 1, totalCount: 4, isCancelled: true))
        #expect(startAll(&book).isEmpty && book.runningCount == 0 && book.waitingCount == 0)
        #expect(book.finish(items[1], isSkipped: true) == nil)
        #expect(book.cancel(list) == nil)
    }

    @Test func `In ten thousand random steps every item ends once and no more run than allowed`() {
        var random = SeededGenerator(seed: 7)
        var book = PrefetchBook(width: 3)
        var running: [PrefetchBook.Start] = []
        var ends: [UInt64: [Int]] = [:]
        var counts: [UInt64: Int] = [:]
        var cancelled: Set<UInt64> = []
        for _ in 0..<10_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                let count = Int.random(in: 1...9, using: &random)
                counts[book.add(count: count, priority: LoadPriority.allCases.randomElement(using: &random)!)] = count
            case 1:
                if let list = counts.keys.sorted().randomElement(using: &random) {
                    _ = book.setPriority(LoadPriority.allCases.randomElement(using: &random)!, of: list)
                }
            case 2 where Int.random(in: 0..<8, using: &random) == 0:
                if let list = counts.keys.sorted().randomElement(using: &random), book.cancel(list) != nil {
                    cancelled.insert(list)
                    running.removeAll { $0.list == list }
                }
            case 3...6:
                if let start = book.startNext() { running.append(start) }
            default:
                guard !running.isEmpty else { continue }
                let start = running.remove(at: Int.random(in: 0..<running.count, using: &random))
                let end = book.finish(start.item, isSkipped: Bool.random(using: &random))
                #expect(end?.index == start.index)
                ends[start.list, default: []].append(start.index)
            }
            #expect(book.runningCount == running.count && running.count <= 3)
        }
        while true {
            if let start = book.startNext() {
                running.append(start)
            } else if let start = running.popLast() {
                _ = book.finish(start.item, isSkipped: false)
                ends[start.list, default: []].append(start.index)
            } else {
                break
            }
        }
        for (list, count) in counts where !cancelled.contains(list) {
            #expect(ends[list]?.sorted() == Array(0..<count))
        }
        #expect(book.waitingCount == 0 && book.listIDs.isEmpty)
    }
}
