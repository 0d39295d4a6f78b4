import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Real HTTP on loopback, with an origin.
@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct ImageServerTests {
    private static let jpeg = try? Array(Fixtures.data("Options/photo.jpg"))

    private func server(
        _ headers: [(String, String)] = [("Cache-Control", "max-age=600")],
        change: (inout ImageServerConfiguration) -> Void = { _ in }
    ) throws -> ServerUnderTest {
        let jpeg = try #require(Self.jpeg)
        return try ServerUnderTest(change: change) { request in
            request.path == "/photo.jpg" ? .response(headers: headers, body: jpeg) : .response(404)
        }
    }

    private func image(_ answer: RawAnswer) async throws -> Image { try await Image.decode(Data(answer.body)) }

    @Test func `An image is loaded, resized and encoded`() async throws {
        let server = try server()
        let answer = await server.get("/w:40")
        #expect(answer.status == 200)
        #expect(answer.headers["Content-Type"] == "image/jpeg")
        #expect(answer.headers["Vary"] == "Accept")
        #expect(answer.headers["X-Content-Type-Options"] == "nosniff")
        #expect(answer.headers["Content-Security-Policy"]?.contains("default-src 'none'") == true)
        #expect(answer.headers["Content-Length"] == "\(answer.body.count)")
        let age = answer.headers["Cache-Control"].flatMap { Int($0.drop { $0 != "=" }.dropFirst()) } ?? 0
        #expect((590...600).contains(age))
        #expect(try await image(answer).pixelWidth == 40)
    }

    @Test func `Sizes are cropped to fill`() async throws {
        let server = try server()
        let image = try await image(await server.get("/fill/w:30/h:30"))
        #expect((image.pixelWidth, image.pixelHeight) == (30, 30))
    }

    @Test func `Every option of geometry and effects is carried out`() async throws {
        let jpeg = try #require(Self.jpeg)
        let grammar = try ImgproxyGrammar(ImgproxyGrammar.Configuration())
        let server = try ServerUnderTest(change: { $0.grammar = grammar }) { _ in
            .response(headers: [("Cache-Control", "max-age=600")], body: jpeg)
        }
        let source = server.origin.url("/photo.jpg").absoluteString
        // The source has 120 by 90 pixels.
        for (options, width, height) in [
            ("rs:fit:50:50/ex:1", 50, 50), ("w:40/h:40/exar:1/pd:1:2", 44, 42),
            ("rs:fill:30:20/g:sm/sh:1/pix:4/bl:1", 30, 20), ("rot:90/w:30", 30, 40),
            ("c:12:10:noea/rot:90", 12, 10), ("t:400/rs:force:20:7", 20, 7), ("w:240/el:1", 240, 180),
            ("bg:ff0000/rs:fill-down:9:9/el:1", 9, 9), ("c:60:90/w:20/dpr:2", 40, 60),
        ] {
            let answer = await RawAnswer.get(server.server.port, "/_/\(options)/f:png/plain/\(source)")
            #expect(answer.status == 200, "\(options)")
            let image = try await image(answer)
            #expect(image.pixelWidth == width && image.pixelHeight == height, "\(options)")
        }
        #expect(server.origin.requestCount() == 1)
    }

    @Test func `The second request is a hit, also after a restart`() async throws {
        let first = try server()
        let made = await first.get("/w:40")
        #expect(await first.get("/w:40").body == made.body)
        #expect(first.server.service.manager.encodeCount == 1)
        let second = try await first.restarted()
        let stored = await second.get("/w:40")
        #expect(stored.body == made.body)
        #expect(stored.headers["ETag"] == made.headers["ETag"])
        #expect(second.server.service.manager.encodeCount == 0)
        #expect(first.origin.requestCount() == 1)
    }

    @Test func `An unchanged image is not sent again`() async throws {
        let server = try server()
        let made = await server.get("/w:40")
        let tag = try #require(made.headers["ETag"])
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count == 18)
        for tags in [tag, "W/\(tag)", "\"a\", \(tag)", "*"] {
            let answer = await server.get("/w:40", [("If-None-Match", tags)])
            #expect(answer.status == 304)
            #expect(answer.body.isEmpty)
            #expect(answer.headers["ETag"] == tag)
            #expect(answer.headers["Vary"] == "Accept")
        }
        #expect(await server.get("/w:40", [("If-None-Match", "\"a\"")]).status == 200)
    }

    @Test func `HEAD has the fields of GET and no body`() async throws {
        let server = try server()
        let get = await server.get("/w:40")
        let head = await server.get("/w:40", method: "HEAD")
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        for name in ["Content-Length", "Content-Type", "ETag", "Vary"] {
            #expect(head.headers[name] == get.headers[name])
        }
    }

    @Test func `A part is sent`() async throws {
        let server = try server()
        let whole = await server.get("/w:40")
        let tag = try #require(whole.headers["ETag"])
        let part = await server.get("/w:40", [("Range", "bytes=10-19"), ("If-Range", tag)])
        #expect(part.status == 206)
        #expect(part.body == Array(whole.body[10..<20]))
        #expect(part.headers["Content-Range"] == "bytes 10-19/\(whole.body.count)")
        #expect(await server.get("/w:40", [("Range", "bytes=10-19"), ("If-Range", "\"a\"")]).status == 200)
        #expect(await server.get("/w:40", [("Range", "bytes=9999999-")]).status == 416)
    }

    @Test func `The client's formats decide, each with its own entry`() async throws {
        let server = try server()
        let webp = await server.get("/w:40", [("Accept", "image/webp,*/*")])
        #expect(webp.headers["Content-Type"] == "image/webp")
        #expect(await server.get("/w:40").headers["Content-Type"] == "image/jpeg")
        let named = await server.get("/w:40/ext:png", [("Accept", "image/webp")])
        #expect(named.headers["Content-Type"] == "image/png")
        #expect(named.headers["Vary"] == nil)
    }

    @Test func `Errors say nothing of the network`() async throws {
        let server = try server()
        let missing = await server.get("/w:40", of: "/none.jpg")
        #expect(missing.status == 404)
        #expect(missing.headers["Vary"] == "Accept")
        #expect(missing.headers["Cache-Control"] == "no-store")
        let refused = await RawAnswer.get(server.server.port, "/w:40/http://127.0.0.2/a.jpg")
        #expect(refused.status == 403)
        #expect(!String(decoding: refused.body, as: UTF8.self).contains("127"))
        let unknown = await server.get("/nonsense:1")
        #expect(unknown.status == 400)
        let undone = await server.get("/watermark:1")
        #expect(undone.status == 422)
        #expect(String(decoding: undone.body, as: UTF8.self).contains("watermark"))
    }

    @Test func `A thousand equal requests are one download, one decode and one encode`() async throws {
        let gate = Gate()
        let jpeg = try #require(Self.jpeg)
        let server = try ServerUnderTest { _ in
            .delayed(gate, then: .response(headers: [("Cache-Control", "max-age=600")], body: jpeg))
        }
        let count = TestEffort.rounds(1000)
        async let answers = withTaskGroup(of: RawAnswer.self) { group in
            for _ in 0..<count { group.addTask { await server.get("/w:40") } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let service = server.server.service
        #expect(await valueOnThread { service.imageLoads.wait(seconds: 30) { $0 == count } })
        gate.open()
        let all = await answers
        #expect(all.count == count)
        #expect(Set(all.map(\.status)) == [200])
        #expect(Set(all.map(\.body)).count == 1)
        #expect(server.origin.requestCount() == 1)
        #expect(service.manager.statistics.decodes == 1)
        #expect(service.manager.encodeCount == 1)
    }

    @Test func `Equal requests are one decode although loads of many other policies come between them`() async throws {
        let gate = Gate()
        let jpeg = try #require(Self.jpeg)
        let server = try ServerUnderTest { _ in
            .delayed(gate, then: .response(headers: [("Cache-Control", "max-age=600")], body: jpeg))
        }
        let service = server.server.service
        async let first = server.get("/w:40")
        #expect(await valueOnThread { service.imageLoads.wait(seconds: 30) { $0 == 1 } })
        for number in 1...100 {
            var policy = SourcePolicy.untrusted
            policy.allowed = [SourceRule("127.0.0.1:\(number)")].compactMap { $0 }
            policy.isolatedFormats = DecodeIsolation.riskyFormats
            _ = policy.decoding.coder(insteadOf: ImageCodersManager.shared)
        }
        async let second = server.get("/w:40")
        #expect(await valueOnThread { service.imageLoads.wait(seconds: 30) { $0 == 2 } })
        gate.open()
        #expect(await [first.status, second.status] == [200, 200])
        #expect(server.origin.requestCount() == 1)
        #expect(service.manager.statistics.decodes == 1)
        #expect(service.manager.encodeCount == 1)
    }

    @Test func `Requests that arrive while the first answer is finished share it, too`() async throws {
        let server = try server()
        let (port, count) = (server.server.port, TestEffort.rounds(200))
        let targets = (0..<count).map { server.target("/w:40", "/photo.jpg?\($0)") }
        // The clients go through the same images, each as fast as it can, so that they meet at all points of a load.
        let failures = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    await valueOnThread {
                        guard let client = TestClient(port: port) else { return count }
                        return targets.count { target in
                            client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                            return client.readAnswer()?.status != 200
                        }
                    }
                }
            }
            return await group.reduce(0, +)
        }
        let manager = server.server.service.manager
        #expect(failures == 0)
        #expect(server.origin.requestCount() == count)
        #expect(manager.statistics.decodes == count)
        #expect(manager.encodeCount == count)
    }

    @Test func `A request with a body is refused, and what follows is not a request`() async throws {
        let server = try server()
        let bodies = [
            "Content-Length: 44\r\n", "Transfer-Encoding: chunked\r\n",
            "Content-Length: 44\r\nTransfer-Encoding: chunked\r\n", "Content-Length: 0\r\nContent-Length: 44\r\n",
        ]
        for fields in bodies {
            let smuggled = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
            let request = "GET /health HTTP/1.1\r\nHost: a\r\n\(fields)\r\n0\r\n\r\n\(smuggled)"
            let answer = await RawAnswer.exchange(server.server.port, request)
            #expect(answer.status == 400)
            #expect(answer.headers["Connection"] == "close")
            #expect(!String(decoding: answer.body, as: UTF8.self).contains("HTTP/1.1"))
        }
    }
}
