import TestSupport
import Testing
import WebImage

/// Images served by nginx under ``CachePolicy/http``: the access log has exactly these requests.
@Suite(.enabled(if: NginxServer.isInstalled), .timeLimit(.minutes(2)))
struct NginxCachingSeriesTests {
    @Test func `An expired image is revalidated with both validators`() async throws {
        let series = try await NginxCachingSeries()
        try series.publish("fresh.png", width: 1)
        #expect(await series.load("fresh.png") == 1)
        series.pass(50)
        #expect(await series.load("fresh.png") == 1)
        series.pass(20)
        #expect(await series.load("fresh.png") == 1)
        // The 304 has made it fresh again.
        series.pass(50)
        #expect(await series.load("fresh.png") == 1)
        #expect(await series.log(2) == ["200", "304 etag date"])
    }

    @Test func `A changed file is fetched once the old one has expired`() async throws {
        let series = try await NginxCachingSeries()
        try series.publish("fresh.png", width: 1)
        #expect(await series.load("fresh.png") == 1)
        try series.publish("fresh.png", width: 2)
        series.pass(50)
        #expect(await series.load("fresh.png") == 1)
        series.pass(20)
        #expect(await series.load("fresh.png") == 2)
        series.pass(20)
        #expect(await series.load("fresh.png") == 2)
        #expect(await series.log(2) == ["200", "200 etag date"])
    }

    @Test func `The disk record works like the one in memory`() async throws {
        let series = try await NginxCachingSeries()
        try series.publish("fresh.png", width: 1)
        #expect(await series.load("fresh.png") == 1)
        await series.restart()
        series.pass(50)
        #expect(await series.load("fresh.png") == 1)
        await series.restart()
        series.pass(20)
        #expect(await series.load("fresh.png") == 1)
        await series.restart()
        series.pass(50)
        #expect(await series.load("fresh.png") == 1)
        try series.publish("fresh.png", width: 2)
        await series.restart()
        series.pass(20)
        #expect(await series.load("fresh.png") == 2)
        #expect(await series.log(3) == ["200", "304 etag date", "200 etag date"])
    }

    @Test(arguments: [("dated.png", "304 date"), ("tagged.png", "304 etag"), ("bare.png", "200")])
    func `A conditional request has the validators that the response had`(name: String, line: String) async throws {
        let series = try await NginxCachingSeries()
        try series.publish(name, width: 1)
        #expect(await series.load(name) == 1)
        #expect(await series.load(name) == 1)
        series.pass(70)
        #expect(await series.load(name) == 1)
        #expect(await series.log(2) == ["200", line])
    }

    @Test(arguments: ["past.png", "no-cache.png"])
    func `An image with no-cache or a past Expires is revalidated on each load`(name: String) async throws {
        let series = try await NginxCachingSeries()
        try series.publish(name, width: 1)
        for _ in 0..<3 { #expect(await series.load(name) == 1) }
        try series.publish(name, width: 2)
        #expect(await series.load(name) == 2)
        #expect(await series.log(4) == ["200", "304 etag date", "304 etag date", "200 etag date"])
    }

    @Test func `A no-store image is fetched on each load`() async throws {
        let series = try await NginxCachingSeries()
        try series.publish("no-store.png", width: 1)
        for _ in 0..<3 { #expect(await series.load("no-store.png") == 1) }
        #expect(await series.log(3) == ["200", "200", "200"])
    }

    @Test func `A stale image is delivered at once and refreshed in the background`() async throws {
        let series = try await NginxCachingSeries()
        try series.publish("behind.png", width: 1)
        #expect(await series.load("behind.png") == 1)
        try series.publish("behind.png", width: 2)
        series.pass(100)
        #expect(await series.load("behind.png") == 1)
        #expect(await series.log(2) == ["200", "200 etag date"])
        #expect(await series.load("behind.png") == 2)
        series.pass(100)
        #expect(await series.load("behind.png") == 2)
        #expect(await series.log(3).last == "304 etag date")
        // Past the window the load waits for the server.
        try series.publish("behind.png", width: 3)
        series.pass(1000)
        #expect(await series.load("behind.png") == 3)
        #expect(await series.log(4) == ["200", "200 etag date", "304 etag date", "200 etag date"])
    }

    @Test(arguments: [("must.png", 2), ("strict-behind.png", 2), ("asked-behind.png", 3)])
    func `A must-revalidate image is revalidated, whatever else is allowed`(name: String, requests: Int)
        async throws
    {
        let series = try await NginxCachingSeries()
        try series.publish(name, width: 1)
        #expect(await series.load(name) == 1)
        #expect(await series.load(name) == 1)
        try series.publish(name, width: 2)
        series.pass(70)
        #expect(await series.load(name) == 2)
        #expect(
            await series.log(requests) == ["200"] + (requests == 3 ? ["304 etag date"] : []) + ["200 etag date"]
        )
    }

    @Test func `refreshCached sends a request for a fresh image, too`() async throws {
        let series = try await NginxCachingSeries()
        try series.publish("fresh.png", width: 1)
        #expect(await series.load("fresh.png") == 1)
        #expect(await series.refresh("fresh.png") == [1])
        try series.publish("fresh.png", width: 2)
        #expect(await series.refresh("fresh.png", atLeast: 2) == [1, 2])
        #expect(await series.load("fresh.png") == 2)
        #expect(await series.log(3) == ["200", "304 etag date", "200 etag date"])
    }

    @Test func `A request like a browser's reload gets an immutable image from the cache while it is fresh`()
        async throws
    {
        let series = try await NginxCachingSeries()
        for name in ["fresh.png", "immutable.png"] {
            try series.publish(name, width: 1)
            #expect(await series.load(name) == 1)
            #expect(await series.load(name, headers: ["Cache-Control": "max-age=0"]) == 1)
        }
        #expect(await series.log(3) == ["200", "304 etag date", "200"])
        series.pass(70)
        #expect(await series.load("immutable.png", headers: ["Cache-Control": "max-age=0"]) == 1)
        #expect(await series.log(4).last == "304 etag date")
    }

    @Test func `A request with no-cache is sent to the server`() async throws {
        let series = try await NginxCachingSeries()
        try series.publish("fresh.png", width: 1)
        #expect(await series.load("fresh.png") == 1)
        #expect(await series.load("fresh.png", headers: ["Cache-Control": "no-cache"]) == 1)
        series.pass(50)
        #expect(await series.load("fresh.png", headers: ["Cache-Control": "max-age=10"]) == 1)
        #expect(await series.load("fresh.png", headers: ["Cache-Control": "max-age=10"]) == 1)
        #expect(await series.log(3) == ["200", "304 etag date", "304 etag date"])
    }

    @Test func `A clock set back makes nothing stale, one set forward does`() async throws {
        let series = try await NginxCachingSeries()
        try series.publish("fresh.png", width: 1)
        #expect(await series.load("fresh.png") == 1)
        series.setClock(by: -3600)
        #expect(await series.load("fresh.png") == 1)
        #expect(await series.log(1) == ["200"])
        series.setClock(by: 3600 + 70)
        #expect(await series.load("fresh.png") == 1)
        #expect(await series.log(2) == ["200", "304 etag date"])
    }

    @Test func `Without a lifetime, a tenth of the age is fresh, a week at most`() async throws {
        let series = try await NginxCachingSeries()
        try series.publish("plain.png", width: 1)
        #expect(await series.load("plain.png") == 1)
        series.pass(6 * 86_400)
        #expect(await series.load("plain.png") == 1)
        series.pass(2 * 86_400)
        #expect(await series.load("plain.png") == 1)
        #expect(await series.log(2) == ["200", "304 etag date"])
    }

    @Test func `A missing image is not requested again during the 404's lifetime`() async throws {
        let series = try await NginxCachingSeries()
        for _ in 0..<3 { #expect(await series.load("gone.png") == nil) }
        #expect(await series.log(1) == ["404"])
        series.pass(70)
        #expect(await series.load("gone.png") == nil)
        #expect(await series.log(2) == ["404", "404"])
    }
}
