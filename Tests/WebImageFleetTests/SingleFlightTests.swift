import Testing

@testable import WebImageFleet

@Suite struct SingleFlightTests {
    private let millisecond: UInt64 = 1_000_000

    private func machine(deadline: UInt64 = .max) -> SingleFlight { SingleFlight(at: 0, deadline: deadline) }

    @Test func `An entry that is found is used`() {
        var machine = machine()
        #expect(machine.start() == .lookUp)
        #expect(machine.next(after: .hit, at: 1) == .useEntry)
        #expect(machine.next(after: .finished, at: 2) == .end)
    }

    @Test func `The machine with the lease loads, renews it, and releases it`() {
        var machine = machine()
        _ = machine.start()
        #expect(machine.next(after: .miss, at: 1) == .acquire)
        #expect(machine.next(after: .granted, at: 2) == .load(renewAfter: 100 * millisecond))
        #expect(machine.holdsLease)
        for _ in 0..<3 {
            #expect(machine.next(after: .timer, at: 3) == .renew)
            #expect(machine.holdsLease)
            #expect(machine.next(after: .renewed(true), at: 4) == .wait(100 * millisecond))
        }
        #expect(machine.next(after: .finished, at: 5) == .release)
        #expect(!machine.holdsLease)
        #expect(machine.next(after: .timer, at: 6) == .end)
        #expect(machine.next(after: .finished, at: 6) == .end)
    }

    @Test(arguments: [SingleFlight.Event.renewed(false), .failed])
    func `A lease that was lost is not released`(event: SingleFlight.Event) {
        var machine = machine()
        _ = (machine.start(), machine.next(after: .miss, at: 1), machine.next(after: .granted, at: 2))
        _ = machine.next(after: .timer, at: 3)
        #expect(machine.next(after: event, at: 4) == .end)
        #expect(!machine.holdsLease)
        #expect(machine.next(after: .finished, at: 5) == .end)
    }

    @Test func `A load that ends while the lease is renewed releases it`() {
        var machine = machine()
        _ = (machine.start(), machine.next(after: .miss, at: 1), machine.next(after: .granted, at: 2))
        _ = machine.next(after: .timer, at: 3)
        #expect(machine.next(after: .finished, at: 4) == .release)
        #expect(machine.next(after: .renewed(true), at: 5) == .end)
    }

    @Test func `The machine with the lease that stores nothing declines it`() {
        var machine = machine()
        _ = (machine.start(), machine.next(after: .miss, at: 1), machine.next(after: .granted, at: 2))
        #expect(machine.next(after: .declined, at: 3) == .decline)
        #expect(!machine.holdsLease)
        #expect(machine.next(after: .finished, at: 4) == .end)
    }

    @Test func `A lease is not held for ever`() {
        var machine = machine()
        _ = (machine.start(), machine.next(after: .miss, at: 1), machine.next(after: .granted, at: 0))
        #expect(machine.next(after: .timer, at: 10_000 * millisecond) == .end)
        #expect(!machine.holdsLease)
    }

    @Test func `Another machine looks in growing intervals, and gives up after two seconds`() {
        var machine = machine()
        var (now, waits, looks): (UInt64, [UInt64], Int) = (0, [], 0)
        var action = machine.start()
        loop: while true {
            switch action {
            case .lookUp:
                looks += 1
                action = machine.next(after: .miss, at: now)
            case .acquire: action = machine.next(after: .taken, at: now)
            case .wait(let time):
                waits.append(time / millisecond)
                now += time
                action = machine.next(after: .timer, at: now)
            default: break loop
            }
        }
        #expect(action == .load(renewAfter: nil))
        #expect(now == 2000 * millisecond)
        #expect(waits.prefix(6) == [5, 10, 20, 40, 50, 50])
        #expect(looks == waits.count + 1)
        #expect(!machine.holdsLease)
    }

    @Test func `Another machine uses the entry as soon as it is there`() {
        var machine = machine()
        _ = (machine.start(), machine.next(after: .miss, at: 1))
        #expect(machine.next(after: .taken, at: 2) == .wait(5 * millisecond))
        #expect(machine.next(after: .timer, at: 3) == .lookUp)
        #expect(machine.next(after: .hit, at: 4) == .useEntry)
    }

    @Test func `The lease of a machine that died is taken over`() {
        var machine = machine()
        _ = (machine.start(), machine.next(after: .miss, at: 1), machine.next(after: .taken, at: 2))
        _ = (machine.next(after: .timer, at: 3), machine.next(after: .miss, at: 4))
        #expect(machine.next(after: .granted, at: 5) == .load(renewAfter: 100 * millisecond))
    }

    @Test func `The deadline of the load ends the waiting`() {
        var machine = machine(deadline: 7 * millisecond)
        _ = (machine.start(), machine.next(after: .miss, at: 0))
        #expect(machine.next(after: .taken, at: 4 * millisecond) == .wait(3 * millisecond))
        _ = machine.next(after: .timer, at: 7 * millisecond)
        #expect(machine.next(after: .miss, at: 7 * millisecond) == .load(renewAfter: nil))
    }

    @Test func `An engine that fails is not waited for`() {
        var looking = machine()
        _ = looking.start()
        #expect(looking.next(after: .failed, at: 1) == .load(renewAfter: nil))
        var acquiring = machine()
        _ = (acquiring.start(), acquiring.next(after: .miss, at: 1))
        #expect(acquiring.next(after: .failed, at: 1) == .load(renewAfter: nil))
    }

    /// Every sequence of four events, each within and after the patience.
    @Test func `No sequence of events makes it load twice, or wait after it loads`() {
        let events: [SingleFlight.Event] = [
            .hit, .miss, .granted, .taken, .failed, .timer, .renewed(true), .renewed(false), .finished, .declined,
        ]
        func explore(_ machine: SingleFlight, _ loads: Int, _ depth: Int) {
            guard depth > 0 else { return }
            for event in events {
                for now in [0, 2100 * millisecond] {
                    var next = machine
                    let action = next.next(after: event, at: now)
                    var count = loads
                    switch action {
                    case .load, .useEntry: count += 1
                    case .lookUp, .acquire: if loads > 0 { Issue.record("\(event) after its end") }
                    case .wait: if loads > 0, !next.holdsLease { Issue.record("\(event) waits after its end") }
                    case .release, .renew, .decline: if loads == 0 { Issue.record("\(event) has no lease") }
                    case .end: break
                    }
                    if count > 1 { Issue.record("\(event) delivers twice") }
                    explore(next, count, depth - 1)
                }
            }
        }
        var machine = machine()
        _ = machine.start()
        explore(machine, 0, 4)
    }

    /// Several machines and one engine, in every order of their steps that a seed chooses; a holder may die.
    @Test func `One machine at a time has the lease, and all get the entry`() {
        for seed in 0..<UInt64(300) {
            var world = World(machines: 4, seed: seed, mayDie: seed % 2 == 1)
            world.run()
            #expect(world.unserved == 0, "seed \(seed)")
            #expect(world.loads <= (seed % 2 == 1 ? 2 : 1), "seed \(seed): \(world.loads) loads")
        }
    }
}

/// Machines that want one entry, whose load takes 50 ms.
private struct World {
    private struct Member {
        var flight: SingleFlight
        var due: UInt64
        var action: SingleFlight.Action
        var loadEnds: UInt64?
        var isServed = false
        var isDead = false
    }

    private let millisecond: UInt64 = 1_000_000
    private var members: [Member] = []
    private var hasEntry = false
    private var lease: (owner: Int, end: UInt64)?
    private var now: UInt64 = 0
    private var random: UInt64
    private var mayDie: Bool
    private(set) var loads = 0

    var unserved: Int { members.filter { !$0.isServed && !$0.isDead }.count }

    init(machines: Int, seed: UInt64, mayDie: Bool) {
        random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        self.mayDie = mayDie
        for _ in 0..<machines {
            var flight = SingleFlight(at: 0, deadline: .max)
            let action = flight.start()
            members.append(Member(flight: flight, due: next() % millisecond, action: action))
        }
    }

    private mutating func next() -> UInt64 {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return random >> 8
    }

    mutating func run() {
        for _ in 0..<10_000 where unserved > 0 {
            let waiting = members.indices.filter { !members[$0].isServed && !members[$0].isDead }
            guard let index = waiting.min(by: { members[$0].due < members[$1].due }) else { return }
            now = max(now, members[index].due)
            step(index)
        }
    }

    private mutating func step(_ index: Int) {
        if let end = members[index].loadEnds, now >= end {
            hasEntry = true
            members[index].isServed = true
            if members[index].flight.next(after: .finished, at: now) == .release, lease?.owner == index { lease = nil }
            return
        }
        let event: SingleFlight.Event
        switch members[index].action {
        case .lookUp: event = hasEntry ? .hit : .miss
        case .acquire:
            if let lease, lease.end > now {
                event = .taken
            } else {
                lease = (index, now + 300 * millisecond)
                event = .granted
            }
        case .wait: event = .timer
        case .renew:
            let isOwner = lease?.owner == index && (lease?.end ?? 0) > now
            if isOwner { lease = (index, now + 300 * millisecond) }
            event = .renewed(isOwner)
        default: event = .timer
        }
        apply(members[index].flight.next(after: event, at: now), to: index)
    }

    private mutating func apply(_ action: SingleFlight.Action, to index: Int) {
        members[index].action = action
        members[index].due = now + next() % millisecond
        switch action {
        case .useEntry: members[index].isServed = true
        case .load(let renewAfter):
            loads += 1
            if mayDie, renewAfter != nil {
                // Without a release.
                (mayDie, members[index].isDead) = (false, true)
                return
            }
            members[index].loadEnds = now + 50 * millisecond
            members[index].due = now + 50 * millisecond
        case .wait(let time): members[index].due = now + time
        default: break
        }
    }
}
