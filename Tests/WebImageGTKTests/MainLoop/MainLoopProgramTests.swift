import TestSupport
import Testing

/// Programs that do nothing for Dispatch's main queue and Swift's main actor themselves, and whose loop is a usual one: `gtk-program` ends
/// when what was dispatched before the first call of the library, a task, its sleep and what another thread dispatches have all come.
@Suite(.serialized, .needsDisplay) struct MainLoopProgramTests {
    private func run(_ loop: String, _ entry: String) throws {
        let run = try ProgramRun(ProgramRun.product("gtk-program"), [loop, entry])
        #expect(run.status == 0, "\(run.status) \(run.output) \(run.errors)")
    }

    @Test(arguments: ["picture", "button", "list", "window", "application", "install"])
    func `Whatever call of the library comes first, main actor and main queue run from then on`(entry: String) throws {
        try run("loop", entry)
    }

    @Test func `What was dispatched before runs, too, when somebody was woken for it and left it`() throws {
        try run("woken", "install")
    }

    @Test(arguments: ["picture", "application"])
    func `So they do under an application`(entry: String) throws { try run("application", entry) }

    @Test func `So they do beside a binding that turns Foundation's run loop`() throws {
        try run("run-loop", "picture")
    }
}
