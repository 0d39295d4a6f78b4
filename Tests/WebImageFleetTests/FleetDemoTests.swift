import Foundation
import TestSupport
import Testing

private let programs = ["webimage", "webimage-server"].map { ProgramRun.product($0) }
private let isBuilt = programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
private let isInstalled = [
    "/usr/lib/nginx/modules/ngx_http_echo_module.so", "/usr/lib/python3/dist-packages/numpy",
    "/usr/lib/python3/dist-packages/PIL",
].allSatisfy { FileManager.default.fileExists(atPath: $0) }

/// `Scripts/demo --fleet`. Instead of building, a stub of `swift` names the folder of the programs, and another says that all packages are
/// installed.
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(if: RedisServer.isInstalled, "redis-server is not installed"),
    .enabled(if: isBuilt, "webimage-server was not built"),
    .enabled(if: isInstalled, "Scripts/setup demo has not been run")
)
struct FleetDemoTests {
    private let directory = TemporaryDirectory()
    private var results: String { directory.path("results") }

    /// The arguments of `env`, with which the demo is started.
    private func command(programs: String) async throws -> [String] {
        let swift =
            "case \"$*\" in '-frontend -version') echo 'Swift version 6.3.1' ;; *--show-bin-path) echo '\(programs)' ;; esac"
        let stubs = [("swift", swift), ("dpkg-query", "printf installed"), ("apt-get", "exit 1")]
        for (name, script) in stubs { try await ProgramRun.writeScript(script, to: directory.path(name)) }
        let demo = Fixtures.path("../../Scripts/demo")
        return ["PATH=\(directory.path):/usr/bin:/bin:/usr/sbin", "/bin/bash", demo, "--fleet", results]
    }

    private var products: String { String(programs[0].dropLast("/webimage".count)) }

    /// The ports in a text, which are those of the demo's servers.
    private func ports(in text: String) -> Set<Int> {
        Set(text.split(separator: "127.0.0.1:").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) })
    }

    /// Expects that nobody listens on the ports, and that no program runs that was told of the folder of the results.
    private func expectNothing(at ports: Set<Int>) async throws {
        let search = "for file in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$file | grep -F \"$PLACE\"; done 2>/dev/null"
        let found = try await ProgramRun.run("/bin/bash", ["-c", search], environment: ["PLACE": results])
        #expect(found.output.isEmpty)
        for port in ports {
            let run = try await ProgramRun.run("/bin/bash", ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(port)"])
            #expect(run.status != 0, "somebody listens on port \(port)")
        }
    }

    @Test func `The demo shows that the second server serves what the first has made, and stops everything`()
        async throws
    {
        let run = try await ProgramRun.run("/usr/bin/env", try await command(programs: products))
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.output)\(run.errors)")
        #expect(run.output.contains("it has done 8 downloads, 8 decodes, 8 encodes"))
        #expect(run.output.contains("it has done 0 downloads, 0 decodes, 0 encodes"))
        #expect(run.output.contains("the same, byte by byte"))
        #expect(run.output.contains("all processes: 8 hits"))
        let ports = ports(in: run.output)
        #expect(ports.count == 4, "the origin, Redis and two servers")
        try await expectNothing(at: ports)
    }

    @Test func `The demo stops everything when it is ended`() async throws {
        let words = ["-c", "exec env \"$@\" 2>&1", "sh"] + (try await command(programs: products))
        let demo = try HelperProcess(path: "/bin/sh", words)
        var output = ""
        while let line = await demo.readLine() {
            output += line + "\n"
            guard line.hasPrefix("Asking the first") else { continue }
            demo.send(SIGTERM)
            break
        }
        #expect(await demo.wait() == 143)
        let ports = ports(in: output)
        #expect(ports.count == 3, "\(output)")
        try await expectNothing(at: ports)
    }

    @Test func `The demo stops everything when one of its servers does not start`() async throws {
        let broken = directory.path("broken")
        try FileManager.default.createDirectory(atPath: broken, withIntermediateDirectories: true)
        symlink(programs[0], broken + "/webimage")
        try await ProgramRun.writeScript("echo no >&2; exit 1", to: broken + "/webimage-server")
        let run = try await ProgramRun.run("/usr/bin/env", try await command(programs: broken))
        #expect(run.status == 1)
        #expect(run.errors == "demo: the image server did not start: no\n")
        let ports = ports(in: run.output)
        #expect(ports.count == 2, "\(run.output)")
        try await expectNothing(at: ports)
    }
}
