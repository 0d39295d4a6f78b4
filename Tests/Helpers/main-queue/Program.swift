// Says when and where callbacks of the main queue run in a program that has its main thread to itself, which no test has. A
// line for each fact:
//
//   CALLBACK/CALLER WHEN WHERE
//
// CALLER is `call` (the main thread), `callback` (what the main queue runs) or `thread` (another thread); WHEN is `inline`
// (on the caller's thread, before the call returned) or `later`; WHERE is `main-thread`, `main-queue` (on another thread) or
// `elsewhere`.
//
//   main-queue loop        the main thread runs the main queue, as programs do beside the loop of their toolkit
//   main-queue dispatch    the main thread is given up for the main queue, with `dispatchMain`
//
// With `fork`, says how loads end in a child that is forked after the library has worked, by the numbers of their errors:
//
//   FIRST IMAGE DATA       of the parent's load, and of the child's with a manager and with a downloader
import CTestSupport
import Dispatch
import Glibc
import TestSupport

@main
struct Program {
    static func main() {
        let facts = Facts()
        switch CommandLine.arguments.dropFirst().first {
        case "loop":
            // From here on the main queue waits for this thread.
            ctest_run_main_queue(0)
            ask(facts)
            while !facts.areComplete { ctest_run_main_queue(100) }
            finish(facts)
        case "dispatch":
            ask(facts)
            startThread {
                facts.waitUntilComplete()
                finish(facts)
            }
            dispatchMain()
        case "fork": Forking.run()
        default: exit(64)
        }
    }

    /// Asks everybody: this thread, the main queue, and another thread.
    private static func ask(_ facts: Facts) {
        // A program that does not come to its end fails.
        alarm(30)
        let questions = Questions(facts)
        facts.expect(3 * questions.count)
        questions.ask(from: "call")
        DispatchQueue.main.async { questions.ask(from: "callback") }
        startThread { questions.ask(from: "thread") }
    }

    private static func finish(_ facts: Facts) {
        for line in facts.lines { print(line) }
        exit(0)
    }
}
