import Foundation
import TestSupport
import Testing
import WebImage

@testable import WebImageFleet

private let program = ProgramRun.product("webimage-server")
private let isBuilt = FileManager.default.isExecutableFile(atPath: program)

/// Processes of `webimage-server` whose store has TLS, wants a certificate of its clients, and has values with a secret.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: RedisServer.isInstalled && Certificates.areAvailable, "redis-server or openssl is not installed"),
    .enabled(if: isBuilt, "webimage-server was not built")
)
struct ServerSecretTests {
    private let directory = TemporaryDirectory()
    private let secret = "0123456789abcdef"

    /// Starts a server, asks it for an image, and returns the answer and the number of its decodes.
    private func serve(
        _ name: String,
        _ target: String,
        _ arguments: [String],
        variables: [String] = []
    ) async throws -> (body: [UInt8], decodes: Int?) {
        let words =
            ["-c", "exec env \"$@\" 2>&1", "sh"] + variables
            + [program, "--listen", "127.0.0.1:0", "--insecure", "--cache-dir", directory.path(name)] + arguments
        let process = try HelperProcess(path: "/bin/sh", words)
        var port = 0
        while port == 0 {
            let line = try #require(await process.readLine())
            if line.contains("serving on") { port = line.split(separator: ":").last.flatMap { Int($0) } ?? -1 }
        }
        let answer = await LoopbackAnswer.get(target, port: port, fields: "Connection: close\r\n")
        #expect(answer.status == 200)
        let page = await LoopbackAnswer.get("/metrics", port: port, fields: "Connection: close\r\n").body
        let line = String(decoding: page, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("webimage_decodes_total ") }
        // Writes what waits for the store.
        process.send(SIGTERM)
        #expect(await process.wait() == 0)
        return (answer.body, line?.split(separator: " ").last.flatMap { Int($0) })
    }

    @Test func `Servers with the certificates and the secret share images, and one with another secret does not`()
        async throws
    {
        let certificates = try await Certificates()
        let redis = try await RedisServer(certificates: certificates, ["--tls-auth-clients", "yes"])
        let fleet = try Fleet(headers: [("Cache-Control", "max-age=600")])
        let (own, file) = (directory.path("own.pem"), directory.path("secret"))
        let parts = try ["client.pem", "client.key"].map { try Data(contentsOf: URL(filePath: certificates.path($0))) }
        try parts.reduce(Data(), +).write(to: URL(filePath: own))
        try Data("\(secret)\n".utf8).write(to: URL(filePath: file))
        let common = [
            "--allow", "127.0.0.1:\(fleet.origin.port)", "--remote-cache", "rediss://localhost:\(redis.port)",
            "--remote-ca",
            certificates.path("ca.pem"), "--remote-certificate", own,
        ]
        let target = "/_/w:20/plain/\(fleet.origin.url("/a.jpg").absoluteString)@png"
        let first = try await serve("1", target, common + ["--remote-secret-file", file])
        let second = try await serve("2", target, common, variables: ["WEBIMAGE_REMOTE_SECRET=\(secret)"])
        let third = try await serve("3", target, common, variables: ["WEBIMAGE_REMOTE_SECRET_FILE=\(file)"])
        #expect(first.body == second.body && first.body == third.body)
        #expect([first.decodes, second.decodes, third.decodes] == [1, 0, 0])
        #expect(fleet.origin.requestCount() == 1)
        let other = try await serve("4", target, common, variables: ["WEBIMAGE_REMOTE_SECRET=another secret of 16"])
        #expect(other.decodes == 1)
        #expect(fleet.origin.requestCount() == 2)
    }

    @Test func `Files that cannot be used, and short secrets, are errors of usage`() async throws {
        let place = ["--insecure", "--remote-cache", "rediss://127.0.0.1"]
        for (option, path) in [
            ("--remote-ca", directory.path("absent")), ("--remote-ca", "/dev/null"),
            ("--remote-certificate", directory.path("absent")), ("--remote-secret-file", directory.path("absent")),
            ("--remote-secret-file", "/dev/null"),
        ] {
            let run = try await ProgramRun.run(program, place + [option, path])
            #expect(run.status == 64 && run.errors.contains("--remote-cache: "), "\(option) \(path): \(run.errors)")
        }
        let short = try await ProgramRun.run(program, place, environment: ["WEBIMAGE_REMOTE_SECRET": "hidden"])
        #expect(short.status == 64 && short.errors.contains("16 bytes") && !short.errors.contains("hidden"))
    }
}
