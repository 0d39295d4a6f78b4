import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// What happens to requests whose images are not there yet.
@Suite(.tags(.threadSanitizer)) struct LoadTests {
    private static let jpeg = try? Array(Fixtures.data("Options/photo.jpg"))

    /// A server whose origin answers `/slow…` when the gate lets it.
    private func server(
        _ gate: Gate,
        change: (inout ImageServerConfiguration) -> Void = { _ in }
    ) throws -> ServerUnderTest {
        let jpeg = try #require(Self.jpeg)
        return try ServerUnderTest(change: change) { request in
            let photo = LoopbackResponse.response(headers: [("Cache-Control", "max-age=600")], body: jpeg)
            return request.path.hasPrefix("/slow") ? .delayed(gate, then: photo) : photo
        }
    }

    private func waiting(_ server: ServerUnderTest, _ count: Int) async -> Bool {
        let loads = server.server.service.imageLoads
        return await valueOnThread { loads.wait(seconds: 30) { $0 == count } }
    }

    @Test func `A load ends when its only client leaves`() async throws {
        let gate = Gate()
        let server = try server(gate)
        let connection = try #require(TestClient(port: server.server.port))
        connection.send("GET \(server.target("/w:10", "/slow.jpg")) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(await waiting(server, 1))
        connection.close()
        #expect(await waiting(server, 0))
        #expect(server.server.service.manager.statistics.cancelled == 1)
        gate.open()
    }

    @Test func `A load goes on when another client waits for it`() async throws {
        let gate = Gate()
        let server = try server(gate)
        let connection = try #require(TestClient(port: server.server.port))
        connection.send("GET \(server.target("/w:10", "/slow.jpg")) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(await waiting(server, 1))
        async let other = server.get("/w:10", of: "/slow.jpg")
        #expect(await waiting(server, 2))
        connection.close()
        #expect(await waiting(server, 1))
        gate.open()
        #expect(await other.status == 200)
        #expect(server.origin.requestCount() == 1)
    }

    @Test func `Four sizes of one image are one download`() async throws {
        let gate = Gate()
        let server = try server(gate)
        async let answers = withTaskGroup(of: Int.self) { group in
            for width in [20, 40, 60, 80] { group.addTask { await server.get("/w:\(width)", of: "/slow.jpg").status } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(await waiting(server, 4))
        gate.open()
        #expect(await answers == [200, 200, 200, 200])
        #expect(server.origin.requestCount() == 1)
    }

    @Test func `An origin that hangs fails its requests in time, and leaves room for other hosts`() async throws {
        let gate = Gate()
        let server = try server(gate) { configuration in
            configuration.timeout = 1
            configuration.maximumDownloadCount = 4
            configuration.maximumLoadCountPerHost = 2
        }
        let count = TestEffort.rounds(100)
        async let parked = withTaskGroup(of: Int.self) { group in
            for number in 0..<count { group.addTask { await server.get("/w:10", of: "/slow\(number).jpg").status } }
            return await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(await waiting(server, count))
        let health = await RawAnswer.get(server.server.port, "/health")
        #expect(health.status == 200)
        #expect(await parked.isSubset(of: [503, 504]))
        gate.open()
    }

    @Test func `Too many requests of a client are refused, and hits are not`() async throws {
        let gate = Gate()
        let server = try server(gate) { $0.maximumWaitingCountPerClient = 2 }
        #expect(await server.get("/w:10").status == 200)
        async let first = server.get("/w:10", of: "/slow1.jpg")
        async let second = server.get("/w:10", of: "/slow2.jpg")
        #expect(await waiting(server, 2))
        let third = await server.get("/w:10", of: "/slow3.jpg")
        #expect(third.status == 429)
        #expect(third.headers["Retry-After"] == "1")
        #expect(await server.get("/w:10").status == 200)
        gate.open()
        #expect(await [first.status, second.status] == [200, 200])
    }

    @Test func `A full server refuses misses, and answers hits and its own pages`() async throws {
        let gate = Gate()
        let server = try server(gate) { $0.maximumWaitingCount = 1 }
        #expect(await server.get("/w:10").status == 200)
        async let first = server.get("/w:10", of: "/slow1.jpg")
        #expect(await waiting(server, 1))
        let refused = await server.get("/w:10", of: "/slow2.jpg")
        #expect(refused.status == 503)
        #expect(refused.headers["Retry-After"] == "1")
        #expect(await server.get("/w:10").status == 200)
        for page in ["/health", "/ready", "/metrics"] {
            #expect(await RawAnswer.get(server.server.port, page).status == 200)
        }
        gate.open()
        #expect(await first.status == 200)
    }

    @Test func `A draining server answers what it has begun, and is not ready`() async throws {
        let gate = Gate()
        let server = try server(gate)
        let kept = try #require(TestClient(port: server.server.port))
        async let slow = server.get("/w:10", of: "/slow.jpg")
        #expect(await waiting(server, 1))
        kept.send("GET /ready HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(await kept.readHead().contains(" 200 "))
        async let isDone = valueOnThread { server.server.drain(within: 30) }
        let service = server.server.service
        #expect(await valueOnThread { TestClient.spin { service.isDraining } })
        kept.send("GET /ready HTTP/1.1\r\nHost: a\r\n\r\n")
        let ready = await kept.readHead()
        #expect(ready.contains(" 503 "))
        gate.open()
        let answer = await slow
        #expect(answer.status == 200)
        #expect(await isDone)
    }

    @Test func `Metrics count answers and loads`() async throws {
        let server = try server(Gate())
        _ = await server.get("/w:10")
        _ = await server.get("/w:10")
        let answer = await RawAnswer.get(server.server.port, "/metrics")
        let text = String(decoding: answer.body, as: UTF8.self)
        for line in [
            "webimage_http_requests_total{status=\"200\"} 2", "webimage_images_total{from=\"memory\"} 1",
            "webimage_images_total{from=\"made\"} 1", "webimage_downloads_total 1", "webimage_encodes_total 1",
            "webimage_http_request_duration_seconds_bucket{le=\"+Inf\"} 2",
        ] {
            #expect(text.contains(line + "\n"), "\(line)")
        }
    }

    @Test func `A line of the log is JSON without control characters`() throws {
        let exchange = HTTPExchangeSummary(
            method: "GET",
            target: "/a\"b\\\u{1}\u{2028}",
            client: "127.0.0.1",
            userAgent: nil,
            status: 200,
            byteCount: 12,
            nanoseconds: 1_234_567,
            origin: "memory",
            cause: nil,
            isComplete: true
        )
        let line = AccessLog.line(exchange, time: 1.5)
        #expect(
            line == """
                {"time":1.5,"client":"127.0.0.1","method":"GET","path":"/a\\"b\\\\\\u0001\\u2028","status":200,"bytes":12,\
                "ms":1.234,"from":"memory"}

                """
        )
    }
}
