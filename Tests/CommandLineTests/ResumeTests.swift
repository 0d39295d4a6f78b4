import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Downloads of the program that resume after an interruption or a kill.
@Suite struct ResumeTests {
    let harness = CommandLineHarness()

    private static let cut = 40_000

    /// A server whose first response stops after some bytes, with the connection closed or not.
    private func server(_ image: [UInt8], stalls: Bool) throws -> LoopbackServer {
        let count = Monitor(0)
        return try LoopbackServer { request in
            let isFirst = count.withLock { count -> Bool in
                count += 1
                return count == 1
            }
            let start = request.header("Range").flatMap { Int($0.dropFirst(6).prefix { $0 != "-" }) }
            let tag = ("ETag", "\"one\"")
            return .script { _, connection in
                guard !isFirst else {
                    connection.sendHead(200, [tag, ("Content-Length", "\(image.count)")])
                    connection.send(Array(image[..<Self.cut]))
                    if stalls { connection.waitForClose() }
                    return false
                }
                guard let start, request.header("If-Range") == tag.1 else {
                    connection.sendHead(200, [tag, ("Content-Length", "\(image.count)")])
                    return connection.send(image)
                }
                connection.sendHead(
                    206,
                    [
                        tag, ("Content-Range", "bytes \(start)-\(image.count - 1)/\(image.count)"),
                        ("Content-Length", "\(image.count - start)"),
                    ]
                )
                return connection.send(Array(image[start...]))
            }
        }
    }

    /// An image with so many bytes after its end that it takes a while.
    private func longImage() throws -> [UInt8] {
        try fixtureBytes("JPEG/baseline-420.jpg") + [UInt8](repeating: 0x2A, count: 60_000)
    }

    private func expectRest(
        _ server: LoopbackServer,
        _ image: [UInt8],
        environment: [String: String] = [:]
    ) async throws {
        let url = server.url("/a.jpg").absoluteString
        let get = ["get", url, "-o", "a.jpg", "--cache-dir", harness.cache]
        let run = try await harness.run(get, environment: environment)
        #expect(run.status == 0, "\(run.errors)")
        let written = try Data(contentsOf: URL(filePath: harness.directory.path("a.jpg")))
        #expect([UInt8](written) == image)
        #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=\(Self.cut - 4096)-"])
    }

    @Test func `Bytes received before a kill are not received again`() async throws {
        let image = try longImage()
        let server = try server(image, stalls: true)
        let parts = harness.cache + "/partial/bodies"
        try FileManager.default.createDirectory(atPath: parts, withIntermediateDirectories: true)
        let program = try HelperProcess(
            path: ProgramRun.product("webimage"),
            [
                "get", server.url("/a.jpg").absoluteString, "-o", harness.directory.path("no.jpg"), "--cache-dir",
                harness.cache,
            ]
        )
        let isWritten = await program.wait(forChangesOf: parts) {
            guard let name = Self.entries(of: parts).first,
                let file = try? Data(contentsOf: URL(filePath: parts + "/" + name))
            else { return false }
            return file.count > Self.cut && file.starts(with: image[..<Self.cut])
        }
        #expect(isWritten)
        program.kill()
        #expect(await program.wait() == 128 + SIGKILL)
        // The program ends only when they are removed, however slow the disk is.
        let slow = FaultPlan(.delay, 300_000, calls: [.unlink, .rename], numbers: 1 ... .max)
        try await expectRest(server, image, environment: slow.environment(directory: parts))
        #expect(Self.entries(of: parts).isEmpty)
    }

    private static func entries(of directory: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { !$0.hasPrefix(".") && $0 != "CACHEDIR.TAG" }
    }

    @Test func `Bytes received before a failure are not received again`() async throws {
        let image = try longImage()
        let server = try server(image, stalls: false)
        let url = server.url("/a.jpg").absoluteString
        let run = try await harness.run("get", url, "-o", "a.jpg", "--cache-dir", harness.cache)
        #expect(run.status == 1)
        try await expectRest(server, image)
    }

    @Test func `Clearing the cache removes interrupted downloads, too`() async throws {
        let image = try longImage()
        let server = try server(image, stalls: false)
        let url = server.url("/a.jpg").absoluteString
        _ = try await harness.run("get", url, "-o", "a.jpg", "--cache-dir", harness.cache)
        #expect(try await harness.run("cache", "clear", "--cache-dir", harness.cache).status == 0)
        #expect(try await harness.run("get", url, "-o", "a.jpg", "--cache-dir", harness.cache).status == 0)
        #expect(server.requests.count == 2 && server.requests.allSatisfy { $0.header("Range") == nil })
    }

    @Test func `Without a cache nothing is kept`() async throws {
        let image = try longImage()
        let server = try server(image, stalls: false)
        let url = server.url("/a.jpg").absoluteString
        #expect(try await harness.run("get", url, "-o", "a.jpg", "--no-cache").status == 1)
        #expect(try await harness.run("get", url, "-o", "a.jpg", "--no-cache").status == 0)
        #expect(server.requests.allSatisfy { $0.header("Range") == nil })
        #expect(!FileManager.default.fileExists(atPath: harness.directory.path("xdg/webimage/partial")))
    }
}
