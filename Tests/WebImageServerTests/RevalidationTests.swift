import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Results whose time is over: their originals are asked for first.
@Suite(.tags(.threadSanitizer)) struct RevalidationTests {
    /// An origin with entity tags, whose answers must be confirmed each time unless a test says otherwise.
    private struct Origin: Sendable {
        let version = Monitor(1)
        /// What the origin says of freshness when it confirms an image.
        var confirmation = "max-age=0"

        func respond(_ request: LoopbackRequest) -> LoopbackResponse {
            let version = version.withLock { $0 }
            let tag = "\"\(version)\""
            if request.header("If-None-Match") == tag {
                return .response(304, headers: [("ETag", tag), ("Cache-Control", confirmation)])
            }
            let name = version == 1 ? "Options/photo.jpg" : "JPEG/baseline-420.jpg"
            let body = (try? Array(Fixtures.data(name))) ?? []
            return .response(headers: [("ETag", tag), ("Cache-Control", "max-age=0")], body: body)
        }
    }

    private func counts(_ server: ServerUnderTest) -> [Int] {
        let manager = server.server.service.manager
        return [server.origin.requestCount(), manager.statistics.decodes, manager.encodeCount]
    }

    @Test func `A result whose original is confirmed is neither decoded nor encoded again`() async throws {
        let origin = Origin()
        let server = try ServerUnderTest(origin: origin.respond)
        let made = await server.get("/w:40")
        #expect(made.headers["Cache-Control"] == "no-cache")
        #expect(counts(server) == [1, 1, 1])
        let again = await server.get("/w:40")
        #expect(again.body == made.body)
        #expect(counts(server) == [2, 1, 1])
    }

    @Test func `The confirmation of one size counts for the others`() async throws {
        var origin = Origin()
        origin.confirmation = "max-age=600"
        let server = try ServerUnderTest(origin: origin.respond)
        let (small, large) = (await server.get("/w:20"), await server.get("/w:60"))
        #expect(small.status == 200 && large.status == 200)
        let (requests, decodes) = (counts(server)[0], counts(server)[1])
        let renewed = await server.get("/w:20")
        #expect(renewed.body == small.body)
        #expect(renewed.headers["Cache-Control"]?.hasPrefix("public, max-age=") == true)
        #expect(counts(server) == [requests, decodes, 2])
    }

    @Test func `A result is confirmed even if its original is not on disk any more`() async throws {
        let origin = Origin()
        let server = try ServerUnderTest(origin: origin.respond)
        let made = await server.get("/w:40")
        let cache = server.server.service.manager.imageCache
        let key = server.origin.url("/photo.jpg").absoluteString
        await awaitCompletion { cache.removeImage(forKey: key, from: .all, completion: $0) }
        #expect(await server.get("/w:40").body == made.body)
        #expect(counts(server) == [2, 1, 1])
        #expect(server.origin.requests.last?.header("If-None-Match") == "\"1\"")
    }

    @Test func `A changed original is fetched once, and all its sizes are made again`() async throws {
        let origin = Origin()
        let server = try ServerUnderTest(origin: origin.respond)
        let (small, large) = (await server.get("/w:20"), await server.get("/w:60"))
        origin.version.withLock { $0 = 2 }
        let before = server.origin.requestCount()
        let (newSmall, newLarge) = (await server.get("/w:20"), await server.get("/w:60"))
        #expect(newSmall.status == 200 && newLarge.status == 200)
        #expect(newSmall.body != small.body && newLarge.body != large.body)
        let tags = server.origin.requests.dropFirst(before).map { $0.header("If-None-Match") }
        #expect(tags == ["\"1\"", "\"2\""])
        #expect(await server.get("/w:20").body == newSmall.body)
    }

    @Test func `An origin that fails leaves the result usable as far as it has allowed`() async throws {
        let version = Monitor(1)
        let jpeg = try Array(Fixtures.data("Options/photo.jpg"))
        let server = try ServerUnderTest { _ in
            guard version.withLock({ $0 }) == 1 else { return .response(500) }
            return .response(
                headers: [("ETag", "\"1\""), ("Cache-Control", "max-age=0, stale-if-error=600")],
                body: jpeg
            )
        }
        let made = await server.get("/w:40")
        version.withLock { $0 = 2 }
        let stale = await server.get("/w:40")
        #expect(stale.status == 200)
        #expect(stale.body == made.body)
        #expect(stale.headers["Cache-Control"] == "no-cache")
        #expect(counts(server).suffix(2) == [1, 1])
    }
}
