import TestSupport
import WebImage

@testable import WebImageSupport

/// Runs the jobs of queues without threads, one at a time, in an order determined by a seed.
///
/// As with threads, a job taken from its queue begins some time later, jobs of one queue overtake each other within its
/// width, and a job can be interrupted in the middle while others run: where the doubles call ``pause()``.
final class Stepper: @unchecked Sendable {
    // Sendable because only the thread that steps it uses it.

    /// Another source of steps, one at a time.
    struct Source {
        /// The number of possible choices.
        let count: () -> Int
        let perform: (Int) -> Void
    }

    private struct Lane {
        let queue: WorkQueue
        var width: Int
        /// Taken and not begun.
        var taken: [@Sendable () -> Void] = []
        /// Begun and interrupted.
        var heldUp = 0
        var canTake: Bool { taken.count + heldUp < width && queue.waitingCount > 0 }
    }

    let disk = WorkQueue(stepped: "disk")
    let coding = WorkQueue(stepped: "coding")
    let prefetch = WorkQueue(stepped: "prefetch")
    private var lanes: [Lane]
    /// The transfers of the server.
    var server: Source?
    /// Executes the callers' next operation; false when there is none, or it cannot be done now.
    var nextOperation: (() -> Bool)?
    var random: SeededGenerator
    /// Called before each step, and where a job can be interrupted.
    var between: () -> Void = {}
    private let pauseRate: Int
    /// Running jobs and operations, nested.
    private(set) var depth = 0
    private(set) var stepCount = 0

    init(_ setup: ModelSetup, seed: UInt64) {
        random = SeededGenerator(seed: seed)
        pauseRate = setup.pauseRate
        lanes = [
            Lane(queue: disk, width: setup.diskWidth),
            Lane(queue: coding, width: setup.codingWidth),
            Lane(queue: prefetch, width: 1),
        ]
    }

    /// Executes one step; false when there is nothing to do.
    func step(withServer: Bool = true) -> Bool {
        var count = withServer ? server?.count() ?? 0 : 0
        let serverCount = count
        for lane in lanes { count += lane.taken.count + (lane.canTake ? 1 : 0) }
        guard count > 0 else { return false }
        between()
        stepCount += 1
        var choice = random.below(count)
        if choice < serverCount {
            within { server?.perform(choice) }
            return true
        }
        choice -= serverCount
        for index in lanes.indices {
            let taken = lanes[index].taken.count
            if choice < taken {
                run(index, choice)
                return true
            }
            choice -= taken
            guard lanes[index].canTake else { continue }
            if choice == 0 {
                if let job = lanes[index].queue.takeNext() { lanes[index].taken.append(job) }
                return true
            }
            choice -= 1
        }
        return true
    }

    private func run(_ lane: Int, _ number: Int) {
        let job = lanes[lane].taken.remove(at: number)
        lanes[lane].heldUp += 1
        within(job)
        lanes[lane].heldUp -= 1
    }

    /// Executes a step as the threads of a queue do.
    func within(_ body: () -> Void) {
        depth += 1
        body()
        depth -= 1
    }

    /// Called in the middle of something that could take long: perhaps other things happen meanwhile.
    func pause() {
        between()
        guard pauseRate > 0, depth < 4, random.below(16) < pauseRate else { return }
        for _ in 0...random.below(3) {
            if random.below(3) == 0 { within { _ = nextOperation?() } } else { _ = step() }
        }
    }

    /// Executes all steps.
    func drain(withServer: Bool) {
        while step(withServer: withServer) {}
    }
}
