import TestSupport
import Testing

/// Programs that do nothing for Dispatch's main queue and Swift's main actor, with an ordinary loop. `gtk-program` ends
/// when these have all run: a block dispatched before the first call of the library, a task, its sleep and a block from
/// another thread.
@Suite(.serialized, .needsDisplay) struct MainLoopProgramTests {
    private func run(_ loop: String, _ entry: String) throws {
        let run = try ProgramRun(ProgramRun.product("gtk-program"), [loop, entry])
        #expect(run.status == 0, "\(run.status) \(run.output) \(run.errors)")
    }

    @Test(arguments: ["picture", "button", "list", "window", "application", "install"])
    func `After any first call of the library, main actor and main queue run`(entry: String) throws {
        try run("loop", entry)
    }

    @Test func `Blocks dispatched before run, too, even if another waiter was woken for them`() throws {
        try run("woken", "install")
    }

    @Test(arguments: ["picture", "application"])
    func `Main actor and main queue run under an application`(entry: String) throws { try run("application", entry) }

    @Test func `Main actor and main queue run beside a binding that turns Foundation's run loop`() throws {
        try run("run-loop", "picture")
    }
}
