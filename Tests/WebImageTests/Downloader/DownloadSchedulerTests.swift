import Testing

@testable import WebImage

@Suite struct DownloadSchedulerTests {
    private func drain(_ scheduler: inout DownloadScheduler) -> [UInt64] {
        var started: [UInt64] = []
        while let id = scheduler.startNext() { started.append(id) }
        return started
    }

    @Test func `Transfers start by priority and then in the order they came`() {
        var scheduler = DownloadScheduler(maximumRunning: 10)
        for (id, priority) in [(1, LoadPriority.low), (2, .normal), (3, .high), (4, .normal), (5, .high)] {
            scheduler.enqueue(UInt64(id), priority: priority)
        }
        #expect(drain(&scheduler) == [3, 5, 2, 4, 1])
        #expect(scheduler.runningCount == 5)
        #expect(scheduler.waitingCount == 0)
    }

    @Test func `Last in first out reverses the order within a priority`() {
        var scheduler = DownloadScheduler(maximumRunning: 10)
        scheduler.isLIFO = true
        for (id, priority) in [(1, LoadPriority.normal), (2, .high), (3, .normal), (4, .high)] {
            scheduler.enqueue(UInt64(id), priority: priority)
        }
        #expect(drain(&scheduler) == [4, 2, 3, 1])
    }

    @Test func `The order can change while transfers wait`() {
        var scheduler = DownloadScheduler(maximumRunning: 1)
        for id in 1...5 { scheduler.enqueue(UInt64(id), priority: .normal) }
        #expect(drain(&scheduler) == [1])
        scheduler.isLIFO = true
        scheduler.remove(1)
        #expect(drain(&scheduler) == [5])
        scheduler.isLIFO = false
        scheduler.remove(5)
        #expect(drain(&scheduler) == [2])
    }

    @Test func `No more run than allowed, and raising the number starts more`() {
        var scheduler = DownloadScheduler(maximumRunning: 2)
        for id in 1...6 { scheduler.enqueue(UInt64(id), priority: .normal) }
        #expect(drain(&scheduler) == [1, 2])
        scheduler.maximumRunning = 4
        #expect(drain(&scheduler) == [3, 4])
        scheduler.maximumRunning = 1
        let ran = scheduler.remove(1)
        #expect(ran)
        #expect(drain(&scheduler).isEmpty)
        for id in [UInt64(2), 3, 4] { scheduler.remove(id) }
        #expect(drain(&scheduler) == [5])
    }

    @Test func `A number below one counts as one`() {
        var scheduler = DownloadScheduler(maximumRunning: 0)
        scheduler.enqueue(1, priority: .normal)
        scheduler.enqueue(2, priority: .normal)
        #expect(drain(&scheduler) == [1])
    }

    @Test func `Nothing starts while suspended`() {
        var scheduler = DownloadScheduler(maximumRunning: 2)
        scheduler.isSuspended = true
        scheduler.enqueue(1, priority: .high)
        #expect(drain(&scheduler).isEmpty)
        scheduler.isSuspended = false
        #expect(drain(&scheduler) == [1])
    }

    @Test func `A waiting transfer moves to its new priority and starts once`() {
        var scheduler = DownloadScheduler(maximumRunning: 10)
        for id in 1...3 { scheduler.enqueue(UInt64(id), priority: .normal) }
        scheduler.setPriority(.high, of: 3)
        scheduler.setPriority(.low, of: 1)
        scheduler.setPriority(.low, of: 1)
        #expect(drain(&scheduler) == [3, 2, 1])
        scheduler.setPriority(.high, of: 1)
        #expect(drain(&scheduler).isEmpty)
    }

    @Test func `A removed transfer never starts`() {
        var scheduler = DownloadScheduler(maximumRunning: 10)
        for id in 1...4 { scheduler.enqueue(UInt64(id), priority: .normal) }
        let ran = scheduler.remove(2)
        #expect(!ran)
        #expect(drain(&scheduler) == [1, 3, 4])
        let ranAgain = scheduler.remove(3)
        #expect(ranAgain)
        let unknown = scheduler.remove(99)
        #expect(!unknown)
    }

    @Test func `A random history agrees with a plain list`() {
        var generator = SystemRandomNumberGenerator()
        for isLIFO in [false, true] {
            var scheduler = DownloadScheduler(maximumRunning: 3)
            scheduler.isLIFO = isLIFO
            // The model: waiting transfers in the order of their tickets.
            var waiting: [(id: UInt64, priority: LoadPriority)] = []
            var running: [UInt64] = []
            for id in 1...800 as ClosedRange<UInt64> {
                let priority = LoadPriority.allCases.randomElement(using: &generator) ?? .normal
                scheduler.enqueue(id, priority: priority)
                waiting.append((id, priority))
                if Bool.random(using: &generator), let victim = waiting.indices.randomElement(using: &generator) {
                    scheduler.remove(waiting.remove(at: victim).id)
                }
                if let moved = waiting.indices.randomElement(using: &generator) {
                    let to = LoadPriority.allCases.randomElement(using: &generator) ?? .normal
                    scheduler.setPriority(to, of: waiting[moved].id)
                    if waiting[moved].priority != to {
                        let entry = waiting.remove(at: moved)
                        waiting.append((entry.id, to))
                    }
                }
                while let started = scheduler.startNext() {
                    let best = waiting.map(\.priority).max()
                    let candidates = waiting.filter { $0.priority == best }
                    #expect(started == (isLIFO ? candidates.last?.id : candidates.first?.id))
                    waiting.removeAll { $0.id == started }
                    running.append(started)
                }
                #expect(running.count <= 3)
                if running.count == 3, let done = running.randomElement(using: &generator) {
                    scheduler.remove(done)
                    running.removeAll { $0 == done }
                }
            }
            #expect(scheduler.waitingCount == waiting.count)
        }
    }
}
