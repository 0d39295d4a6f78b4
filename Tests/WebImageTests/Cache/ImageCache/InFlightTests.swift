import TestSupport
import Testing

@testable import WebImage

@Suite struct InFlightTests {
    /// A table whose methods can be called inside of an expectation.
    private final class Table {
        typealias Ticket = InFlight<String, Int>.Ticket
        private var table = InFlight<String, Int>()
        var count: Int { table.count }
        func join(_ key: String, priority: LoadPriority, waiter: Int) -> (ticket: Ticket, starts: Bool) {
            table.join(key, priority: priority, waiter: waiter)
        }
        func leave(_ ticket: Ticket) -> (handle: WorkHandle?, waiter: Int?) { table.leave(ticket) }
        func setPriority(_ priority: LoadPriority, of ticket: Ticket) { table.setPriority(priority, of: ticket) }
        func attach(_ handle: WorkHandle, stage: Int, to ticket: Ticket) -> Bool {
            table.attach(handle, stage: stage, to: ticket)
        }
        func isWanted(_ ticket: Ticket) -> Bool { table.isWanted(ticket) }
        func finish(_ ticket: Ticket) -> [Int] { table.finish(ticket) }
    }

    private final class Log: Sendable {
        let lines = Lock<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func handle(_ name: String) -> WorkHandle {
            WorkHandle(
                cancel: { self.lines.withLock { $0.append("\(name) cancelled") } },
                setPriority: { priority in self.lines.withLock { $0.append("\(name) \(priority)") } }
            )
        }
    }

    @Test func `The first starts the work, and all who come before its end get it in their order`() {
        let table = Table()
        let first = table.join("k", priority: .normal, waiter: 1)
        #expect(first.starts)
        #expect(!table.join("k", priority: .normal, waiter: 2).starts)
        #expect(table.join("other", priority: .normal, waiter: 9).starts)
        #expect(!table.join("k", priority: .normal, waiter: 3).starts)
        #expect(table.finish(first.ticket) == [1, 2, 3])
        #expect(table.finish(first.ticket) == [])
        #expect(table.join("k", priority: .normal, waiter: 4).starts)
        #expect(table.count == 2)
    }

    @Test func `The last who leaves takes the work with it, and who comes then has it begun anew`() {
        let table = Table()
        let log = Log()
        let first = table.join("k", priority: .normal, waiter: 1).ticket
        let second = table.join("k", priority: .normal, waiter: 2).ticket
        #expect(table.attach(log.handle("old"), stage: 0, to: first))
        #expect(table.leave(first).handle == nil)
        #expect(table.leave(first).waiter == nil)
        #expect(table.isWanted(first))
        let last = table.leave(second)
        #expect(last.handle != nil)
        #expect(last.waiter == 2)
        #expect(!table.isWanted(first))
        let again = table.join("k", priority: .normal, waiter: 3)
        #expect(again.starts)
        // The work that was given up neither ends the new one nor is taken for it.
        #expect(table.finish(first) == [])
        #expect(!table.attach(log.handle("old"), stage: 1, to: first))
        #expect(table.finish(again.ticket) == [3])
    }

    @Test func `The work is as urgent as the most urgent who waits`() {
        let table = Table()
        let log = Log()
        let low = table.join("k", priority: .low, waiter: 1).ticket
        #expect(table.attach(log.handle("a"), stage: 0, to: low))
        let high = table.join("k", priority: .high, waiter: 2).ticket
        let normal = table.join("k", priority: .normal, waiter: 3).ticket
        _ = table.leave(high)
        table.setPriority(.high, of: normal)
        table.setPriority(.low, of: normal)
        table.setPriority(.low, of: low)
        #expect(log.all == ["a low", "a high", "a normal", "a high", "a low"])
    }

    @Test func `A handle gets the priority of now, and that of a later stage stays`() {
        let table = Table()
        let log = Log()
        let ticket = table.join("k", priority: .low, waiter: 1).ticket
        _ = table.join("k", priority: .high, waiter: 2)
        #expect(table.attach(log.handle("decode"), stage: 1, to: ticket))
        #expect(table.attach(log.handle("read"), stage: 0, to: ticket))
        _ = table.join("k", priority: .low, waiter: 3)
        #expect(log.all == ["decode high"])
    }

    @Test func `Under random calls each who waits is told once or has left`() {
        var random = SeededGenerator(seed: 4)
        let table = Table()
        var waiting: [Int: Table.Ticket] = [:]
        var flights: [String: Table.Ticket] = [:]
        for number in 0..<20_000 {
            let key = ["a", "b", "c"].randomElement(using: &random) ?? "a"
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let (ticket, starts) = table.join(key, priority: .normal, waiter: number)
                #expect(starts == (flights[key] == nil))
                if starts { flights[key] = ticket }
                waiting[number] = ticket
            case 6..<8:
                guard let (number, ticket) = waiting.randomElement(using: &random) else { continue }
                waiting[number] = nil
                #expect(table.leave(ticket).waiter == number)
                if !waiting.values.contains(where: { $0.key == ticket.key }) { flights[ticket.key] = nil }
            default:
                guard let ticket = flights.removeValue(forKey: key) else { continue }
                let told = table.finish(ticket)
                #expect(told == waiting.filter { $0.value.key == key }.keys.sorted())
                for number in told { waiting[number] = nil }
            }
            #expect(table.count == flights.count)
        }
    }
}
