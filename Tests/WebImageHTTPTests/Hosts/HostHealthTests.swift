import FoundationEssentials
import TestSupport
import Testing

@testable import WebImageHTTP

/// The state of one host, as a table in virtual time.
@Suite struct HostHealthTests {
    /// Events, with the number of a download.
    enum Event: Sendable {
        case failed(UInt64)
        case answered(UInt64)
        case silent(UInt64)
        /// A response that asks for this many seconds.
        case asked(UInt64, Double)
        /// A failure (503) that asks for this many seconds.
        case failedAsking(UInt64, Double)
        case released(UInt64)
        case admitted(UInt64, HostHealth.Admission)
        case time(Double)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let events: [Event]

        init(_ name: String, _ events: [Event]) { (testDescription, self.events) = (name, events) }

        /// After three failures.
        init(_ name: String, opened events: [Event]) { self.init(name, [.failed(1), .failed(2), .failed(3)] + events) }
    }

    private static func seconds(_ seconds: Double) -> UInt64 { UInt64(seconds * 1e9) }

    private static let rows: [Row] = [
        Row("a new host is asked", [.admitted(1, .proceed), .admitted(2, .proceed)]),
        Row("two failures are not enough", [.failed(1), .failed(2), .admitted(3, .proceed)]),
        Row("three are", opened: [.admitted(4, .failing(seconds(1)))]),
        Row(
            "a response in between resets the count",
            [.failed(1), .failed(2), .answered(3), .failed(4), .failed(5), .admitted(6, .proceed)]
        ),
        Row(
            "silence between does not",
            [.failed(1), .failed(2), .silent(3), .failed(4), .admitted(5, .failing(seconds(1)))]
        ),
        Row("the remaining time is reported", opened: [.time(0.25), .admitted(4, .failing(seconds(0.75)))]),
        Row(
            "failures of others under way add nothing",
            opened: [.failed(7), .failed(8), .admitted(4, .failing(seconds(1)))]
        ),
        Row("an answer to one under way closes it", opened: [.answered(7), .admitted(4, .proceed)]),
        Row("silence of one under way does not", opened: [.silent(7), .admitted(4, .failing(seconds(1)))]),
        Row("after the time one finds out", opened: [.time(1), .admitted(4, .probe), .admitted(5, .awaitProbe)]),
        Row("the probe may send again", opened: [.time(1), .admitted(4, .probe), .admitted(4, .probe)]),
        Row("an answer lets all in", opened: [.time(1), .admitted(4, .probe), .answered(4), .admitted(5, .proceed)]),
        Row(
            "an answer to another, too",
            opened: [.time(1), .admitted(4, .probe), .answered(9), .admitted(5, .proceed)]
        ),
        Row(
            "a failure doubles the time",
            opened: [.time(1), .admitted(4, .probe), .failed(4), .admitted(5, .failing(seconds(2)))]
        ),
        Row(
            "another's failure says nothing then",
            opened: [.time(1), .admitted(4, .probe), .failed(9), .admitted(5, .awaitProbe)]
        ),
        Row(
            "a cancelled probe leaves it to the next",
            opened: [.time(1), .admitted(4, .probe), .released(4), .admitted(5, .probe), .admitted(6, .awaitProbe)]
        ),
        Row(
            "one that finds out for two minutes is not waited for any more",
            opened: [
                .time(1), .admitted(4, .probe), .time(119), .admitted(5, .awaitProbe), .time(1), .admitted(5, .probe),
                .admitted(6, .awaitProbe), .failed(4), .released(4), .admitted(6, .awaitProbe), .failed(5),
                .admitted(6, .failing(seconds(2))),
            ]
        ),
        Row(
            "another cancellation changes nothing",
            opened: [.time(1), .admitted(4, .probe), .released(9), .admitted(5, .awaitProbe)]
        ),
        Row(
            "the time has an end",
            opened: [
                .time(1), .admitted(4, .probe), .failed(4), .time(2), .admitted(5, .probe), .failed(5), .time(4),
                .admitted(6, .probe), .failed(6), .time(8), .admitted(7, .probe), .failed(7),
                .admitted(8, .failing(seconds(8))),
            ]
        ),
        Row(
            "an answer makes the time short again",
            opened: [
                .time(1), .admitted(4, .probe), .failed(4), .time(2), .admitted(5, .probe), .answered(5), .failed(6),
                .failed(7), .failed(8), .admitted(9, .failing(seconds(1))),
            ]
        ),
        Row("old failures are forgotten", [.failed(1), .failed(2), .time(601), .failed(3), .admitted(4, .proceed)]),
        Row(
            "events without a verdict do not keep failures young",
            [.failed(1), .failed(2), .time(400), .silent(3), .time(300), .failed(4), .admitted(5, .proceed)]
        ),
        Row(
            "not so old ones are not",
            [.failed(1), .failed(2), .time(599), .failed(3), .admitted(4, .failing(seconds(1)))]
        ),
        Row(
            "Retry-After delays the host",
            [.asked(1, 5), .admitted(2, .asked(seconds(5))), .time(4), .admitted(2, .asked(seconds(1)))]
        ),
        Row("and then asked by all", [.asked(1, 5), .time(5), .admitted(2, .proceed), .admitted(3, .proceed)]),
        Row(
            "an answer to one under way does not take that back",
            [.asked(1, 5), .answered(2), .admitted(3, .asked(seconds(5)))]
        ),
        Row("the longer wish counts", [.asked(1, 5), .asked(2, 3), .admitted(3, .asked(seconds(5)))]),
        Row("at most ten minutes", [.asked(1, 1e9), .admitted(2, .asked(seconds(600)))]),
        Row("no time is no request to wait", [.asked(1, 0), .asked(2, -1), .asked(3, .nan), .admitted(4, .proceed)]),
        Row(
            "a failure that asks is a failure, too",
            [
                .failedAsking(1, 5), .failedAsking(2, 5), .failedAsking(3, 5), .admitted(4, .failing(seconds(5))),
                .time(5), .admitted(4, .probe),
            ]
        ),
        Row(
            "a probe with Retry-After leaves it open",
            opened: [
                .time(1), .admitted(4, .probe), .failedAsking(4, 9), .admitted(5, .failing(seconds(9))), .time(3),
                .admitted(5, .asked(seconds(6))),
            ]
        ),
    ]

    @Test(arguments: rows)
    func `The state of a host decides whether it is asked`(row: Row) {
        var health = HostHealth()
        var now: UInt64 = 5_000_000_000
        func note(_ kind: HostReport.Kind, _ id: UInt64, _ retryAfter: Double? = nil) {
            health.note(kind, retryAfter: retryAfter, of: id, policy: .exact, at: now, random: 0.3)
        }
        for (number, event) in row.events.enumerated() {
            switch event {
            case .failed(let id): note(.failed, id)
            case .answered(let id): note(.answered, id)
            case .silent(let id): note(.silent, id)
            case .asked(let id, let seconds): note(.answered, id, seconds)
            case .failedAsking(let id, let seconds): note(.failed, id, seconds)
            case .released(let id): health.release(id)
            case .admitted(let id, let expected):
                let admission = health.admit(id, at: now)
                #expect(admission == expected, "event \(number)")
            case .time(let seconds): now += Self.seconds(seconds)
            }
        }
    }

    @Test func `Without a threshold failures do not count, and without a limit Retry-After does not`() {
        var health = HostHealth()
        for id in 1...100 {
            health.note(.failed, retryAfter: 100, of: UInt64(id), policy: .never, at: UInt64(id), random: 1)
        }
        #expect(health.admit(101, at: 200) == .proceed && health.isWell(at: 200))
    }

    @Test func `Jitter shortens a time by its share and never extends it`() {
        var policy = HostBackOffPolicy()
        #expect(policy.delay(afterOpenings: 0, random: 0) == 0.5 && policy.delay(afterOpenings: 0, random: 1) == 1)
        #expect(policy.delay(afterOpenings: 3, random: 1) == 8 && policy.delay(afterOpenings: 400, random: 1) == 60)
        policy.jitter = 5
        #expect(policy.delay(afterOpenings: 1, random: 0) == 0 && policy.delay(afterOpenings: 1, random: 0.25) == 0.5)
        policy.baseDelay = .nan
        #expect(policy.delay(afterOpenings: 1, random: 1) == 0)
        policy.baseDelay = .infinity
        policy.maximumDelay = 30
        #expect(policy.delay(afterOpenings: 0, random: 1) == 30)
        policy.multiplier = -1
        policy.baseDelay = 1
        #expect(policy.delay(afterOpenings: 2, random: 1) == 0)
    }

    @Test(arguments: 0..<40)
    func `In any history there is at most one probe, a response admits all, and no delay exceeds its limit`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        var health = HostHealth()
        var now: UInt64 = 0
        var probe: UInt64?
        for step in 1...2000 {
            let id = UInt64.random(in: 1...6, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                health.note(.failed, retryAfter: nil, of: id, policy: .exact, at: now, random: 0)
                if probe == id { probe = nil }
            case 2 where Bool.random(using: &random):
                health.note(.answered, retryAfter: nil, of: id, policy: .exact, at: now, random: 0)
                probe = nil
                #expect(health.admit(99, at: now) == .proceed)
            case 3:
                health.release(id)
                if probe == id { probe = nil }
            case 4: now += UInt64.random(in: 0...3_000_000_000, using: &random)
            default:
                switch health.admit(id, at: now) {
                case .probe:
                    #expect(probe == nil || probe == id, "step \(step)")
                    probe = id
                case .awaitProbe: #expect(probe != nil && probe != id, "step \(step)")
                case .proceed: #expect(probe == nil, "step \(step)")
                case .failing(let time): #expect(probe == nil && time <= 8_000_000_000, "step \(step)")
                case .asked: Issue.record("no Retry-After was sent")
                }
            }
        }
    }
}
