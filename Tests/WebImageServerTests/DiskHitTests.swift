import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Images that are sent from their files.
@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct DiskHitTests {
    /// A server without memory for encoded images, whose results are on disk and open.
    private func server() async throws -> (server: ServerUnderTest, made: RawAnswer) {
        let jpeg = try Array(Fixtures.data("Options/photo.jpg"))
        let first = try ServerUnderTest(change: { $0.hotByteCount = 0 }) { _ in
            .response(headers: [("Cache-Control", "max-age=600"), ("ETag", "\"1\"")], body: jpeg)
        }
        let made = await first.get("/w:80")
        // The store of a result may still be waiting; after a restart it is a file.
        let server = try await first.restarted()
        #expect(await server.get("/w:80").body == made.body)
        let files = server.server.service.files
        #expect(await valueOnThread { TestClient.spin { files.count == 1 } })
        return (server, made)
    }

    private func sentFromDisk(_ server: ServerUnderTest) async -> Int {
        let text = String(decoding: await RawAnswer.get(server.server.port, "/metrics").body, as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("webimage_images_total{from=\"disk\"}") }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }

    private func files(_ server: ServerUnderTest) -> [String] {
        guard let cache = server.server.service.manager.imageCache.localImageCache else { return [] }
        let directory = cache.diskCachePath
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0 != "CACHEDIR.TAG" }.map { directory + "/" + $0 }
    }

    @Test func `An image is sent from its file as from memory`() async throws {
        let (server, made) = try await server()
        let whole = await server.get("/w:80")
        #expect(whole.status == 200)
        #expect(whole.body == made.body)
        for name in ["ETag", "Content-Type", "Content-Length", "Vary"] {
            #expect(whole.headers[name] == made.headers[name], "\(name)")
        }
        let head = await server.get("/w:80", method: "HEAD")
        #expect(head.headers["Content-Length"] == made.headers["Content-Length"])
        #expect(head.body.isEmpty)
        let part = await server.get("/w:80", [("Range", "bytes=10-99")])
        #expect(part.status == 206)
        #expect(part.body == Array(made.body[10..<100]))
        let tag = try #require(made.headers["ETag"])
        #expect(await server.get("/w:80", [("If-None-Match", tag)]).status == 304)
        #expect(await sentFromDisk(server) == 5)
        #expect(server.server.service.manager.statistics.decodes == 0)
    }

    @Test func `An image is sent although its file was removed`() async throws {
        let (server, made) = try await server()
        for path in files(server) { try FileManager.default.removeItem(atPath: path) }
        #expect(await server.get("/w:80").body == made.body)
        #expect(server.server.service.manager.statistics.decodes == 0)
    }

    @Test func `A file that was damaged after it was opened is not sent`() async throws {
        let (server, made) = try await server()
        for path in files(server) {
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            try file.seek(toOffset: 200)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 64))
            try file.close()
        }
        let answer = await server.get("/w:80")
        #expect(answer.status == 200)
        #expect(answer.body == made.body)
        #expect(server.server.service.manager.encodeCount == 1)
    }

    @Test func `Many clients get one file at the same time`() async throws {
        let (server, made) = try await server()
        let count = TestEffort.rounds(50)
        let bodies = await withTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<count { group.addTask { await server.get("/w:80").body } }
            return await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(bodies == [made.body])
    }
}
