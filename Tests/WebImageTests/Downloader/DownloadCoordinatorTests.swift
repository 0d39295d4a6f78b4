import Testing

@testable import WebImage

@Suite struct DownloadCoordinatorTests {
    @Test func `Callers with the same key share a transfer`() {
        var coordinator = DownloadCoordinator<String>(maximumRunning: 6)
        let first = coordinator.subscribe(key: "a", priority: .normal)
        let second = coordinator.subscribe(key: "a", priority: .normal)
        let other = coordinator.subscribe(key: "b", priority: .normal)
        #expect(first.isNew && !second.isNew && other.isNew)
        #expect(first.transfer == second.transfer && first.token != second.token)
        #expect(coordinator.transferCount == 2 && coordinator.tokenCount == 3)
    }

    @Test func `A caller that leaves does not end the transfer of the others, the last one does`() {
        var coordinator = DownloadCoordinator<String>(maximumRunning: 6)
        let first = coordinator.subscribe(key: "a", priority: .normal)
        let second = coordinator.subscribe(key: "a", priority: .normal)
        let started = coordinator.scheduler.startNext()
        #expect(started == first.transfer)
        #expect(coordinator.cancel(first.token) == .left(first.transfer))
        #expect(coordinator.cancel(first.token) == .unknown)
        #expect(coordinator.cancel(second.token) == .last(first.transfer, ran: true))
        #expect(coordinator.transferCount == 0)
        #expect(coordinator.scheduler.runningCount == 0)
        #expect(coordinator.close(first.transfer).isEmpty)
    }

    @Test func `Nobody joins a transfer that has been closed or left by all`() {
        var coordinator = DownloadCoordinator<String>(maximumRunning: 6)
        let first = coordinator.subscribe(key: "a", priority: .normal)
        _ = coordinator.scheduler.startNext()
        #expect(coordinator.close(first.transfer) == [first.token])
        let second = coordinator.subscribe(key: "a", priority: .normal)
        #expect(second.isNew && second.transfer != first.transfer)
        #expect(coordinator.cancel(second.token) == .last(second.transfer, ran: false))
        #expect(coordinator.subscribe(key: "a", priority: .normal).isNew)
    }

    @Test func `A transfer is as urgent as its most urgent caller, whoever comes, changes or leaves`() {
        var coordinator = DownloadCoordinator<String>(maximumRunning: 1)
        let a = coordinator.subscribe(key: "a", priority: .low)
        let b = coordinator.subscribe(key: "b", priority: .normal)
        let joined = coordinator.subscribe(key: "a", priority: .high)
        #expect(coordinator.scheduler.startNext() == a.transfer)
        _ = coordinator.close(a.transfer)

        let c = coordinator.subscribe(key: "c", priority: .low)
        let urgent = coordinator.subscribe(key: "c", priority: .high)
        _ = coordinator.cancel(urgent.token)
        #expect(coordinator.scheduler.startNext() == b.transfer)
        _ = coordinator.close(b.transfer)

        let d = coordinator.subscribe(key: "d", priority: .normal)
        coordinator.setPriority(.high, of: c.token)
        coordinator.setPriority(.high, of: joined.token)
        #expect(coordinator.scheduler.startNext() == c.transfer)
        _ = coordinator.close(c.transfer)
        #expect(coordinator.scheduler.startNext() == d.transfer)
    }

    @Test func `A parked transfer takes no place, is joined and left, and waits again when it is woken`() {
        var coordinator = DownloadCoordinator<String>(maximumRunning: 1)
        let a = coordinator.subscribe(key: "a", priority: .low)
        let b = coordinator.subscribe(key: "b", priority: .normal)
        #expect(coordinator.scheduler.startNext() == b.transfer)
        coordinator.park(b.transfer)
        #expect(coordinator.parkedCount == 1 && coordinator.transferCount == 2)
        #expect(coordinator.scheduler.startNext() == a.transfer)
        let joined = coordinator.subscribe(key: "b", priority: .high)
        #expect(joined.transfer == b.transfer && !joined.isNew)
        #expect(coordinator.cancel(b.token) == .left(b.transfer))
        coordinator.wake(b.transfer)
        coordinator.wake(b.transfer)
        #expect(coordinator.parkedCount == 0 && coordinator.scheduler.waitingCount == 1)
        #expect(coordinator.close(a.transfer) == [a.token])
        #expect(coordinator.scheduler.startNext() == b.transfer)
        coordinator.park(b.transfer)
        #expect(coordinator.cancel(joined.token) == .last(b.transfer, ran: false))
        coordinator.wake(b.transfer)
        coordinator.park(99)
        #expect(coordinator.parkedCount == 0 && coordinator.scheduler.waitingCount == 0)
    }

    @Test func `A transfer that gave up its place still hands out its callers`() {
        var coordinator = DownloadCoordinator<String>(maximumRunning: 1)
        let a = coordinator.subscribe(key: "a", priority: .normal)
        let b = coordinator.subscribe(key: "b", priority: .normal)
        _ = coordinator.scheduler.startNext()
        coordinator.release(a.transfer)
        #expect(coordinator.scheduler.startNext() == b.transfer)
        let joined = coordinator.subscribe(key: "a", priority: .normal)
        #expect(coordinator.close(a.transfer) == [a.token, joined.token])
        #expect(coordinator.scheduler.runningCount == 1)
    }

    @Test func `Closing hands out callers in the order they came`() {
        var coordinator = DownloadCoordinator<String>(maximumRunning: 1)
        let tokens = (0..<50).map { _ in coordinator.subscribe(key: "a", priority: .normal).token }
        let transfer = coordinator.scheduler.startNext() ?? 0
        _ = coordinator.cancel(tokens[7])
        #expect(coordinator.close(transfer) == tokens.filter { $0 != tokens[7] })
    }

    @Test func `Closing everything leaves nothing`() {
        var coordinator = DownloadCoordinator<String>(maximumRunning: 2)
        let tokens = ["a", "b", "a", "c"].map { coordinator.subscribe(key: $0, priority: .normal).token }
        _ = coordinator.scheduler.startNext()
        let closed = coordinator.closeAll()
        #expect(closed.tokens == tokens && closed.transfers.count == 3)
        #expect(coordinator.transferCount == 0 && coordinator.tokenCount == 0)
        #expect(coordinator.scheduler.runningCount == 0 && coordinator.scheduler.waitingCount == 0)
    }

    @Test func `In a random history every caller ends exactly once`() {
        var generator = SystemRandomNumberGenerator()
        var coordinator = DownloadCoordinator<Int>(maximumRunning: 4)
        var ended: [UInt64: Int] = [:]
        var keys: [UInt64: Int] = [:]
        var alive: [UInt64] = []
        var running: [UInt64: Int] = [:]
        for step in 0..<20_000 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1:
                let key = Int.random(in: 0..<12, using: &generator)
                let priority = LoadPriority.allCases.randomElement(using: &generator) ?? .normal
                let (token, transfer, _) = coordinator.subscribe(key: key, priority: priority)
                keys[transfer] = key
                alive.append(token)
                ended[token] = 0
            case 2:
                guard let index = alive.indices.randomElement(using: &generator) else { continue }
                let token = alive.remove(at: index)
                ended[token, default: 0] += 1
                if case .last(let transfer, let ran) = coordinator.cancel(token) {
                    #expect(ran == (running.removeValue(forKey: transfer) != nil))
                }
            default:
                guard let transfer = running.keys.randomElement(using: &generator) else { continue }
                running[transfer] = nil
                let tokens = coordinator.close(transfer)
                #expect(!tokens.isEmpty, "a running transfer has callers (step \(step))")
                for token in tokens { ended[token, default: 0] += 1 }
                alive.removeAll { tokens.contains($0) }
            }
            while let id = coordinator.scheduler.startNext() {
                #expect(!running.values.contains(keys[id] ?? -1), "one transfer per key")
                running[id] = keys[id]
            }
            #expect(running.count <= 4)
        }
        for token in coordinator.closeAll().tokens { ended[token, default: 0] += 1 }
        #expect(ended.values.allSatisfy { $0 == 1 })
    }
}
