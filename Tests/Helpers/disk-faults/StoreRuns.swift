import CTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import WebImage

extension Disturbance {
    /// Those that are named, or all.
    static func chosen(_ names: some Collection<String>) -> [Disturbance] {
        names.isEmpty ? all : all.filter { names.contains($0.name) }
    }
}

/// Goes through the calls of the usual steps and disturbs one after the other.
struct StoreRuns {
    private let base: String
    private let other: String
    private let stride: Int
    /// Numbers of the step that was begun last, and of the one that was done last, which copies of this process write.
    private let progress: UnsafeMutablePointer<Int>
    private(set) var failureCount = 0

    init(directory: String, other: String, stride: Int) {
        (base, self.other, self.stride) = (directory, other, stride)
        guard let numbers = ctest_shared_numbers(2) else { exit(71) }
        progress = numbers
    }

    mutating func run(_ disturbance: Disturbance) {
        let begun = ContinuousClock.now
        let index = Disturbance.all.firstIndex { $0.name == disturbance.name } ?? 0
        // With each second one the entries that are moved come from the same file system.
        let source = index.isMultiple(of: 2) ? base + "/old" : other
        let failed = failureCount
        let count = undisturbed(disturbance, source)
        var runs = 0
        // Of few calls all are disturbed.
        let step = min(stride, max(count / 40, 1))
        for number in Swift.stride(from: 1 + index % step, through: count, by: step) {
            // Whoever takes so long hangs.
            alarm(30)
            runs += 1
            if disturbance.isDeadly {
                die(disturbance, at: number, source)
            } else {
                fail(disturbance, at: number, source)
            }
        }
        alarm(0)
        let time = begun.duration(to: .now)
        say("\(disturbance): \(count) calls, \(runs) runs, \(failureCount - failed) failures, \(time)")
    }

    private mutating func note(_ failures: [String], _ disturbance: Disturbance, _ number: Int) {
        failureCount += failures.count
        for failure in failures.prefix(3) { say("FAILED \(disturbance) at call \(number): \(failure)") }
    }

    /// Counts the calls that a disturbance could have; everything has to be as it should.
    private mutating func undisturbed(_ disturbance: Disturbance, _ source: String) -> Int {
        let session = StoreSession(base: base, source: source)
        session.prepare()
        disturbance.plan(at: .max - 10).begin(in: base)
        let model = session.work(progress: progress)
        let count = FaultPlan.end().count
        note(session.check(model, isLossy: false), disturbance, 0)
        return count
    }

    /// The calls fail, and the process goes on.
    private mutating func fail(_ disturbance: Disturbance, at number: Int, _ source: String) {
        let session = StoreSession(base: base, source: source)
        session.prepare()
        disturbance.plan(at: number).begin(in: base)
        let model = session.work(progress: progress, isHarmless: disturbance.isHarmless)
        let (_, call) = FaultPlan.end()
        let failures = session.check(model, isLossy: call != nil && !disturbance.isHarmless)
        note(failures.map { "\($0), after a failed \(call.map { "\($0)" } ?? "nothing")" }, disturbance, number)
    }

    /// A copy of this process ends at the call.
    private mutating func die(_ disturbance: Disturbance, at number: Int, _ source: String) {
        let session = StoreSession(base: base, source: source)
        session.prepare()
        (progress[0], progress[1]) = (-1, -1)
        let copy = ctest_fork()
        guard copy >= 0 else { return note(["no fork: \(errno)"], disturbance, number) }
        if copy == 0 {
            alarm(20)
            disturbance.plan(at: number).begin(in: base)
            _ = session.work(progress: progress)
            _exit(0)
        }
        var status: Int32 = 0
        while waitpid(copy, &status, 0) < 0, errno == EINTR {}
        guard status & 0x7F == SIGKILL || status == 0 else {
            return note(["it ended with \(status)"], disturbance, number)
        }
        var model = FaultModel()
        for (step, operation) in FaultOperation.workload.enumerated() where step <= progress[0] {
            model.apply(operation, step <= progress[1] ? .done : .interrupted)
        }
        note(session.check(model, isLossy: false), disturbance, number)
    }
}
