import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageFleet

/// Against a real server with certificates of openssl.
@Suite(
    .tags(.threadSanitizer, .addressSanitizer),
    .timeLimit(.minutes(2)),
    .enabled(if: RedisServer.isInstalled && Certificates.areAvailable, "redis-server or openssl is not installed")
)
struct TLSTests {
    private func server(_ certificates: Certificates, clientsNeedOne: Bool = false) async throws -> RedisServer {
        try await RedisServer(
            certificates: certificates,
            ["--tls-auth-clients", clientsNeedOne ? "yes" : "no"]
        )
    }

    private func client(_ server: RedisServer, host: String = "127.0.0.1", _ files: RemoteStoreCertificates) throws
        -> RedisClient
    {
        var configuration = try RedisConfiguration(url: "rediss://\(host):\(server.port)")
        configuration.tls.value = try TLSContext(files)
        // Longer than the machine that runs the tests is busy with others.
        (configuration.connectTimeout, configuration.silence) = (60_000_000_000, 60_000_000_000)
        return RedisClient(configuration)
    }

    private func refusal(_ reply: Result<RESPValue, RedisFailure>) -> TLSFailure? {
        if case .failure(.untrusted(let failure)) = reply { failure } else { nil }
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `Values are stored and found over TLS`(host: String) async throws {
        let certificates = try await Certificates()
        let server = try await server(certificates)
        let client = try client(server, host: host, certificates.clientFiles())
        for count in [0, 1, 70_000, 3_000_000] {
            let value = Data(pattern(count))
            #expect(await client.reply(RedisCommand("SET", "a").with(value)) == .success(.status("OK")))
            #expect(await client.reply("GET", "a") == .success(.bytes(value)))
        }
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let value = String(repeating: "\(number) ", count: 50 * (number % 50))
                    _ = await client.reply("SET", "k\(number)", value)
                    return await client.reply("GET", "k\(number)") == .success(.bytes(Data(value.utf8)))
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test func `A server with a certificate of an unknown authority is refused`() async throws {
        let (certificates, others) = (try await Certificates(), try await Certificates())
        let server = try await server(certificates)
        for files in [others.clientFiles(), RemoteStoreCertificates()] {
            let failure = refusal(await (try client(server, files)).reply("SET", "a", "secret"))
            #expect(failure?.isOfCertificate == true, "\(failure?.reason ?? "none")")
        }
        #expect(await (try client(server, certificates.clientFiles())).reply("DBSIZE") == .success(.number(0)))
    }

    @Test(arguments: ["DNS:other.example", "IP:127.0.0.2"])
    func `A server with a certificate for another host is refused`(names: String) async throws {
        let certificates = try await Certificates(of: names)
        let server = try await server(certificates)
        for host in ["127.0.0.1", "localhost"] {
            let failure = refusal(await (try client(server, host: host, certificates.clientFiles())).reply("PING"))
            #expect(failure?.isOfCertificate == true)
            #expect(failure?.reason.contains("mismatch") == true, "\(failure?.reason ?? "none")")
        }
    }

    @Test func `A server that wants a certificate gets it`() async throws {
        let certificates = try await Certificates()
        let server = try await server(certificates, clientsNeedOne: true)
        let known = try client(server, certificates.clientFiles(withCertificate: true))
        #expect(await known.reply("PING") == .success(.status("PONG")))
        let unknown = try client(server, certificates.clientFiles())
        guard case .failure = await unknown.reply("PING") else {
            Issue.record("it was let in")
            return
        }
    }

    @Test func `Encrypted and other connections do not mix`() async throws {
        let certificates = try await Certificates()
        let encrypted = try await server(certificates)
        guard case .failure = await RedisClient(encrypted.configuration).reply("PING", patience: 5) else {
            Issue.record("it spoke without TLS")
            return
        }
        let plain = try await RedisServer()
        guard case .failure = await (try client(plain, certificates.clientFiles())).reply("PING", patience: 2) else {
            Issue.record("it spoke without TLS")
            return
        }
    }

    @Test func `Loads go on without a server whose certificate is refused`() async throws {
        let (certificates, others) = (try await Certificates(), try await Certificates())
        let (server, fleet) = (try await server(certificates), try Fleet())
        let url = "rediss://127.0.0.1:\(server.port)"
        let wrong = try RemoteImageStore(redis: url, timeout: 5, certificates: others.clientFiles())
        let right = try RemoteImageStore(redis: url, timeout: 5, certificates: certificates.clientFiles())
        for (number, store) in [wrong, right, right].enumerated() {
            let machine = fleet.machine("\(number)", store)
            for name in ["a", "b"] { _ = try await machine.load(fleet.origin.url("/\(name).jpg")) }
            await machine.cache.flush()
        }
        // The third machine finds what the second has loaded.
        #expect(fleet.origin.requestCount() == 4)
    }

    @Test func `The command shares images over TLS`() async throws {
        let (certificates, fleet) = (try await Certificates(), try Fleet())
        let server = try await server(certificates)
        let directory = TemporaryDirectory()
        for name in ["first", "second"] {
            let arguments = [
                "get", fleet.origin.url("/a.jpg").absoluteString, "-o", directory.path("\(name).png"), "--cache-dir",
                directory.path(name), "--remote-cache", "rediss://localhost:\(server.port)", "--remote-ca",
                certificates.path("ca.pem"),
            ]
            let run = try await ProgramRun.run(ProgramRun.product("webimage"), arguments)
            #expect(run.status == 0, "\(run.errors)")
        }
        #expect(fleet.origin.requestCount() == 1)
        let wrong = ["--remote-cache", "rediss://localhost", "--remote-ca", directory.path("absent")]
        let run = try await ProgramRun.run(ProgramRun.product("webimage"), ["get", "a.jpg"] + wrong)
        #expect(run.status == 64 && run.errors.contains("No such file or directory"), "\(run.errors)")
    }

    @Test func `Files that are not certificates are an error`() async throws {
        let certificates = try await Certificates()
        try Data("no certificate".utf8).write(to: URL(filePath: certificates.path("text")))
        let (key, authority) = (certificates.path("ca.key"), certificates.path("ca.pem"))
        let wrong = [
            RemoteStoreCertificates(authorityFile: certificates.path("absent")),
            RemoteStoreCertificates(authorityFile: certificates.path("text")),
            RemoteStoreCertificates(certificateFile: authority),
            RemoteStoreCertificates(certificateFile: authority, keyFile: certificates.path("client.key")),
            RemoteStoreCertificates(keyFile: certificates.path("text")),
        ]
        for files in wrong {
            #expect { try RemoteImageStore(redis: "rediss://h", certificates: files) } throws: { error in
                (error as? WebImageError)?.code == .secureConnectionFailed
            }
            // Without TLS, they are not read.
            _ = try RemoteImageStore(redis: "redis://h", certificates: files)
        }
        _ = try RemoteImageStore(
            redis: "rediss://h",
            certificates: RemoteStoreCertificates(authorityFile: authority, certificateFile: authority, keyFile: key)
        )
    }
}
