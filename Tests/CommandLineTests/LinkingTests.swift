import TestSupport
import Testing

/// Programs without widgets need nothing of GTK, neither to be built nor to run.
@Suite struct LinkingTests {
    @Test func `The command links neither GTK nor libadwaita`() async throws {
        let run = try await ProgramRun.run("/usr/bin/ldd", [ProgramRun.product("webimage")])
        #expect(run.status == 0 && run.output.contains("libcurl"))
        #expect(run.lines.filter { $0.contains("libgtk") || $0.contains("libgdk-") || $0.contains("libadwaita") } == [])
    }

    @Test func `Without GTK no target of the package uses it`() async throws {
        let scratch = TemporaryDirectory()
        // A separate scratch path: it waits for no running build.
        let run = try await ProgramRun.run(
            "/usr/bin/env",
            [
                "swift", "package", "--package-path", Fixtures.path("../.."), "--scratch-path", scratch.path,
                "dump-package",
            ],
            environment: ["WEBIMAGE_GTK": "0", "WEBIMAGE_LEFT_OUT": ""]
        )
        #expect(run.status == 0 && run.output.contains(#""name" : "WebImage""#), "\(run.errors)")
        #expect(run.lines.filter { $0.lowercased().contains("gtk") } == [])
    }
}
