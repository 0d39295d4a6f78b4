import Testing

@testable import WebImageFleet

@Suite struct NodeHealthTests {
    private let second: UInt64 = 1_000_000_000

    private func failing(at now: UInt64, random: Double = 0) -> NodeHealth {
        var health = NodeHealth()
        for _ in 0..<5 { health.note(.failed, of: health.admit(at: now), at: now, random: random) }
        return health
    }

    @Test(arguments: [NodeHealth.Outcome.failed, .late])
    func `Five in a row open the circuit, four do not`(outcome: NodeHealth.Outcome) {
        var health = NodeHealth()
        for _ in 0..<4 { health.note(outcome, of: .proceed, at: 1, random: 0) }
        #expect(health.isClosed)
        health.note(.answered, of: .proceed, at: 1, random: 0)
        for _ in 0..<4 { health.note(outcome, of: .proceed, at: 1, random: 0) }
        #expect(health.isClosed)
        health.note(outcome, of: .proceed, at: 1, random: 0)
        #expect(!health.isClosed)
        #expect(health.openings == 1)
    }

    @Test(arguments: [(0.0, 1_000_000_000), (1.0, 1_500_000_000), (7.0, 1_500_000_000), (-1.0, 1_000_000_000)])
    func `An open circuit sends nothing for a second and a random part`(random: Double, pause: UInt64) {
        var health = failing(at: 100, random: random)
        #expect(health.admit(at: 100 + pause - 1) == .refused)
        #expect(health.admit(at: 100 + pause) == .probe(1))
    }

    @Test func `One probe is sent, and its reply closes the circuit`() {
        var health = failing(at: 0)
        #expect(health.admit(at: second) == .probe(1))
        #expect(health.admit(at: second + 1) == .refused)
        health.note(.answered, of: .probe(1), at: second + 2, random: 0)
        #expect(health.isClosed)
        #expect(health.admit(at: second + 3) == .proceed)
        #expect(health.openings == 1)
    }

    @Test(arguments: [NodeHealth.Outcome.failed, .late])
    func `A failed or late probe opens it again, for the same time`(outcome: NodeHealth.Outcome) {
        var health = failing(at: 0)
        for round in UInt64(1)...20 {
            #expect(health.admit(at: round * second) == .probe(round))
            health.note(outcome, of: .probe(round), at: round * second, random: 0)
            #expect(health.admit(at: (round + 1) * second - 1) == .refused)
        }
    }

    @Test func `A probe whose outcome does not come is replaced, and then ignored`() {
        var health = failing(at: 0)
        #expect(health.admit(at: second) == .probe(1))
        #expect(health.admit(at: 2 * second - 1) == .refused)
        #expect(health.admit(at: 2 * second) == .probe(2))
        health.note(.answered, of: .probe(1), at: 2 * second, random: 0)
        #expect(!health.isClosed)
        health.note(.answered, of: .probe(2), at: 2 * second, random: 0)
        #expect(health.isClosed)
    }

    @Test func `Outcomes of requests from before the circuit opened count for nothing`() {
        var health = failing(at: 0)
        let open = health
        for outcome in [NodeHealth.Outcome.answered, .failed, .late] {
            health.note(outcome, of: .proceed, at: 1, random: 0)
        }
        health.note(.answered, of: .refused, at: 1, random: 0)
        #expect(health == open)
    }

    @Test func `A fifth of late replies opens the circuit, less does not`() {
        for (late, isOpen) in [(3, false), (4, true)] {
            var health = NodeHealth()
            for number in 0..<20 {
                health.note(
                    number % 4 == 0 && number / 4 < late ? .late : .answered,
                    of: .proceed,
                    at: UInt64(number) * 100_000_000,
                    random: 0
                )
            }
            #expect(health.isClosed != isOpen, "\(late)")
        }
    }

    @Test func `Few replies say nothing, and old ones are forgotten`() {
        var health = NodeHealth()
        for number in 0..<19 { health.note(number % 2 == 0 ? .late : .answered, of: .proceed, at: 1, random: 0) }
        #expect(health.isClosed)
        // A whole window later, only this one counts.
        health.note(.late, of: .proceed, at: 11 * second, random: 0)
        #expect(health.isClosed)
    }

    @Test func `After a recovery, counting starts again`() {
        var health = failing(at: 0)
        _ = health.admit(at: second)
        health.note(.answered, of: .probe(1), at: second, random: 0)
        for _ in 0..<4 { health.note(.failed, of: .proceed, at: second, random: 0) }
        #expect(health.isClosed)
    }
}
