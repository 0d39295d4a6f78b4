import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

/// Callbacks of the main queue in a program that has its main thread to itself: tests run on other threads.
@Suite(.tags(.threadSanitizer)) struct MainQueueTests {
    /// When and where callbacks ran in the helper, by callback and caller.
    private static func facts(_ mode: String) async throws -> [String: String] {
        let run = try await ProgramRun.run(ProgramRun.product("test-program"), ["main-queue", mode])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        return run.lines.reduce(into: [:]) { facts, line in
            let words = line.split(separator: " ").map(String.init)
            if words.count == 3 { facts[words[0]] = words[1] + " " + words[2] }
        }
    }

    @Test func `On the main thread callbacks of the main queue run inline under both policies, unless dispatched`()
        async throws
    {
        let facts = try await Self.facts("loop")
        // Called by the program itself, and by blocks of the main queue.
        for caller in ["call", "callback"] {
            for queue in ["main", "safe-execute", "safe-async", "invoke"] {
                #expect(facts["\(queue)/\(caller)"] == "inline main-thread", "\(queue) from \(caller)")
            }
            #expect(facts["dispatch/\(caller)"] == "later main-thread")
        }
    }

    @Test func `From another thread callbacks of the main queue run on the main thread, unless invoked`() async throws {
        let facts = try await Self.facts("loop")
        for queue in ["main", "safe-execute", "safe-async", "dispatch"] {
            #expect(facts["\(queue)/thread"] == "later main-thread", "\(queue)")
        }
        #expect(facts["invoke/thread"] == "inline elsewhere")
    }

    @Test func `By default memory hits are delivered on the main thread before the call returns, and the rest later`()
        async throws
    {
        let facts = try await Self.facts("loop")
        for caller in ["call", "callback"] {
            for name in ["load-hit", "query-hit"] {
                #expect(facts["\(name)/\(caller)"] == "inline main-thread", "\(name) from \(caller)")
            }
            for name in ["load-miss", "query-miss"] {
                #expect(facts["\(name)/\(caller)"] == "later main-thread", "\(name) from \(caller)")
            }
        }
        for name in ["load-hit", "load-miss", "query-miss"] {
            #expect(facts["\(name)/thread"] == "later main-thread", "\(name) from another thread")
        }
        #expect(facts["query-hit/thread"] == "inline elsewhere", "a cache delivers from memory on the caller's thread")
    }

    @Test func `A program whose main thread runs dispatchMain gets its callbacks on the main queue`() async throws {
        let facts = try await Self.facts("dispatch")
        for name in ["main", "safe-execute", "safe-async", "dispatch", "load-hit", "load-miss", "query-miss"] {
            // Dispatch runs the main queue on its own threads then.
            #expect(facts["\(name)/thread"] == "later main-queue", "\(name)")
        }
        // Its blocks are on the queue, whatever the thread: as close to main as possible in such a program.
        for name in ["main", "safe-execute", "safe-async", "load-hit", "query-hit"] {
            #expect(facts["\(name)/callback"] == "inline main-queue", "\(name)")
        }
        for name in ["dispatch", "load-miss", "query-miss"] {
            #expect(facts["\(name)/callback"] == "later main-queue", "\(name)")
        }
        for name in ["main", "safe-execute", "safe-async", "load-hit", "query-hit"] {
            #expect(facts["\(name)/call"] == "inline main-thread", "\(name)")
        }
    }
}
