import FoundationEssentials
import Testing
import WebImageTestSupport

/// The test kit, used as its users do.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(2))) struct StubTransportTests {
    let url = URL(string: "https://example.com/a.png")!

    private func code(_ manager: WebImageManager, options: WebImageOptions = []) async -> WebImageError.Code? {
        do throws(WebImageError) {
            _ = try await manager.image(with: url, options: options)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `A URL without a response fails, is reported and not retried`() async {
        await confirmation { confirm in
            let url = url
            let stub = StubTransport { request in
                #expect(request.url == url)
                confirm()
            }
            var config = WebImageDownloaderConfig()
            config.retryPolicy.maximumRetryCount = 5
            #expect(await code(WebImageManager(stub: stub, config: config)) == .invalidDownloadOperation)
            #expect(stub.requests.count == 1)
        }
    }

    @Test func `Each request takes the next response, and the last one is repeated`() async throws {
        let stub = StubTransport()
        stub.respond(to: url, with: .status(404), .data(Data("text".utf8)), try .image(.solid(.black)))
        let manager = WebImageManager(stub: stub)
        #expect(await code(manager, options: .retryFailed) == .invalidDownloadStatusCode)
        #expect(await code(manager, options: .retryFailed) == .badImageData)
        #expect(await code(manager, options: [.retryFailed, .fromLoaderOnly]) == nil)
        #expect(await code(manager, options: [.retryFailed, .fromLoaderOnly]) == nil)
        #expect(stub.requests.count == 4 && stub.requests[0].method == "GET")
        stub.respond(to: url, with: .failure(.timedOut))
        #expect(await code(manager, options: .fromLoaderOnly) == .timedOut)
    }

    @Test func `A delayed response is sent when the clock has advanced, and a load can be cancelled before`()
        async throws
    {
        let stub = StubTransport()
        stub.respond(to: url, with: try .image(.solid(.black)).delayed(by: 3600))
        let manager = WebImageManager(stub: stub)
        async let first = code(manager)
        let before = stub.clock.wallTime
        await stub.clock.advanceToNextDelay()
        #expect(await first == nil && abs(stub.clock.wallTime - before - 3600) < 0.001)

        let second = Task { await code(manager, options: .fromLoaderOnly) }
        while stub.requests.count < 2 { await Task.yield() }
        second.cancel()
        #expect(await second.value == .cancelled)
        stub.clock.advance(3600)
    }

    @Test func `A response in parts reports progress for each`() async throws {
        let stub = StubTransport()
        let data = try await Image.gradient(from: .white, to: .black, width: 40, height: 40).encoded(as: .bmp)
        stub.respond(to: url, with: .data(data).inParts(4))
        var fractions: [Double] = []
        for try await event in WebImageManager(stub: stub).events(with: url) {
            if case .progress(let progress) = event { fractions.append(progress.fraction) }
        }
        #expect(fractions == fractions.sorted() && fractions.last == 1)
    }

    @Test func `A redirect leads to another scripted URL`() async throws {
        let stub = StubTransport()
        let other = try #require(URL(string: "https://example.com/b.png"))
        stub.respond(to: url, with: .status(302, headers: ["Location": other.absoluteString]))
        stub.respond(to: other, with: try .image(.solid(.white)))
        #expect(await code(WebImageManager(stub: stub)) == nil)
        #expect(stub.requests.map(\.url) == [url, other])
    }

    @Test func `A cached image becomes stale with the clock`() async throws {
        let stub = StubTransport()
        let data = try await Image.solid(.white).encoded(as: .png)
        let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
        stub.respond(to: url, with: .data(data, headers: headers), .status(304, headers: headers))
        let manager = WebImageManager(stub: stub)
        manager.cachePolicy = .http
        #expect(await code(manager) == nil)
        stub.clock.advance(59)
        #expect(await code(manager) == nil && stub.requests.count == 1)
        stub.clock.advance(2)
        #expect(await code(manager) == nil && stub.requests.count == 2)
        #expect(stub.requests[1].headers["If-None-Match"] == "\"1\"")
    }

    @Test func `Managers share no images, and load data URLs but no files`() async throws {
        let stub = StubTransport()
        stub.respond(to: url, with: try .image(.solid(.white)))
        for _ in 0..<2 { #expect(await code(WebImageManager(stub: stub)) == nil) }
        #expect(stub.requests.count == 2)
        let data = try await Image.solid(.black).encoded(as: .png)
        let inline = try #require(URL(string: "data:image/png;base64,\(data.base64EncodedString())"))
        #expect(try await WebImageManager(stub: stub).image(with: inline).pixelWidth == 16)
        await #expect(throws: WebImageError.self) {
            try await WebImageManager(stub: stub).image(with: URL(fileURLWithPath: "/etc/hostname"))
        }
    }

    @Test func `A cancelled task does not wait for a delay`() async {
        let clock = ManualClock(wallTime: 5)
        let waiting = Task { await clock.advanceToNextDelay() }
        waiting.cancel()
        await waiting.value
        clock.jump(-2)
        #expect(clock.wallTime == 3)
    }
}

@Suite struct ImageBuilderTests {
    @Test func `A solid image has its colour, and alpha only if needed`() throws {
        let white = try Image.solid(.white)
        #expect(white.color(at: ImagePoint(x: 7, y: 9)) == .white && !white.hasAlpha && white.pixelWidth == 16)
        #expect(try Image.solid(.clear, width: 0, height: -1).hasAlpha)
    }

    @Test func `A gradient starts and ends with its colours`() throws {
        let image = try Image.gradient(from: .black, to: .white, width: 5, height: 1)
        #expect(image.color(at: ImagePoint(x: 0, y: 0)) == .black && image.color(at: ImagePoint(x: 4, y: 0)) == .white)
        let middle = try #require(image.color(at: ImagePoint(x: 2, y: 0)))
        #expect(abs(middle.red - 0.5) < 0.01)
    }

    @Test func `Numbered images differ, also negative and long ones in little space`() throws {
        let images = try [0, 1, 9, 10, -1, 12_345_678, Int.min, Int.max].map {
            try Image.numbered($0, width: 48, height: 12)
        }
        let colors = images.map { image in (0..<48 * 12).map { image.color(at: ImagePoint(x: $0 % 48, y: $0 / 48)) } }
        #expect(Set(colors).count == images.count)
        #expect(try Image.numbered(8, width: 1, height: 1).pixelWidth == 1)
    }

    @Test(arguments: [ImageFormat.gif, .png, .webp]) func `An animation survives its file`(format: ImageFormat)
        async throws
    {
        let image = try Image.animated(frameCount: 4, frameDuration: 0.2, loopCount: 3)
        let data = try await #require(image.animation).encoded(as: format)
        let read = try await Image.decode(data)
        #expect(
            read.animation?.frameCount == 4 && read.animation?.loopCount == 3 && read.animation?.duration(at: 2) == 0.2
        )
        #expect(try await Image.solid(.white).encoded(as: .jpeg).isEmpty == false)
    }
}
