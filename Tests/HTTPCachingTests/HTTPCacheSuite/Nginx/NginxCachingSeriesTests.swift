import TestSupport
import Testing
import WebImage

/// Pictures served by nginx, under ``CachePolicy/http``: the access log has these requests and no others.
@Suite(.enabled(if: NginxServer.isInstalled), .timeLimit(.minutes(2)))
struct NginxCachingSeriesTests {
    @Test func `What expires is asked about with both validators once it has`() async throws {
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

    @Test func `A file that has changed comes when the old one has expired, and not before`()
        async throws
    {
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

    @Test func `The disk knows as much as memory`() async throws {
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
    func `The validators that there are go with the question`(name: String, line: String) async throws {
        let series = try await NginxCachingSeries()
        try series.publish(name, width: 1)
        #expect(await series.load(name) == 1)
        #expect(await series.load(name) == 1)
        series.pass(70)
        #expect(await series.load(name) == 1)
        #expect(await series.log(2) == ["200", line])
    }

    @Test(arguments: ["past.png", "no-cache.png"])
    func `What must not serve unasked is asked about each time`(name: String) async throws {
        let series = try await NginxCachingSeries()
        try series.publish(name, width: 1)
        for _ in 0..<3 { #expect(await series.load(name) == 1) }
        try series.publish(name, width: 2)
        #expect(await series.load(name) == 2)
        #expect(await series.log(4) == ["200", "304 etag date", "304 etag date", "200 etag date"])
    }

    @Test func `What must not be stored is fetched each time`() async throws {
        let series = try await NginxCachingSeries()
        try series.publish("no-store.png", width: 1)
        for _ in 0..<3 { #expect(await series.load("no-store.png") == 1) }
        #expect(await series.log(3) == ["200", "200", "200"])
    }

    @Test func `A stale picture comes at once and is renewed behind`() async throws {
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
        // Past its window it waits for the server.
        try series.publish("behind.png", width: 3)
        series.pass(1000)
        #expect(await series.load("behind.png") == 3)
        #expect(await series.log(4) == ["200", "200 etag date", "304 etag date", "200 etag date"])
    }

    @Test(arguments: [("must.png", 2), ("strict-behind.png", 2), ("asked-behind.png", 3)])
    func `What must be revalidated is, whatever else is allowed`(name: String, requests: Int)
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

    @Test func `A load that refreshes asks, however fresh it is`() async throws {
        let series = try await NginxCachingSeries()
        try series.publish("fresh.png", width: 1)
        #expect(await series.load("fresh.png") == 1)
        #expect(await series.refresh("fresh.png") == [1])
        try series.publish("fresh.png", width: 2)
        #expect(await series.refresh("fresh.png", atLeast: 2) == [1, 2])
        #expect(await series.load("fresh.png") == 2)
        #expect(await series.log(3) == ["200", "304 etag date", "200 etag date"])
    }

    @Test func `Who asks as a browser's reload does gets what is immutable while it is fresh`() async throws {
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

    @Test func `A request that wants it is answered anew`() async throws {
        let series = try await NginxCachingSeries()
        try series.publish("fresh.png", width: 1)
        #expect(await series.load("fresh.png") == 1)
        #expect(await series.load("fresh.png", headers: ["Cache-Control": "no-cache"]) == 1)
        series.pass(50)
        #expect(await series.load("fresh.png", headers: ["Cache-Control": "max-age=10"]) == 1)
        #expect(await series.load("fresh.png", headers: ["Cache-Control": "max-age=10"]) == 1)
        #expect(await series.log(3) == ["200", "304 etag date", "304 etag date"])
    }

    @Test func `A clock that is set back makes nothing stale, one set forward does`() async throws {
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

    @Test func `Of what nothing is said a tenth of its age is fresh, a week at most`() async throws {
        let series = try await NginxCachingSeries()
        try series.publish("plain.png", width: 1)
        #expect(await series.load("plain.png") == 1)
        series.pass(6 * 86_400)
        #expect(await series.load("plain.png") == 1)
        series.pass(2 * 86_400)
        #expect(await series.load("plain.png") == 1)
        #expect(await series.log(2) == ["200", "304 etag date"])
    }

    @Test func `What is not there is not asked for again while the server says so`() async throws {
        let series = try await NginxCachingSeries()
        for _ in 0..<3 { #expect(await series.load("gone.png") == nil) }
        #expect(await series.log(1) == ["404"])
        series.pass(70)
        #expect(await series.load("gone.png") == nil)
        #expect(await series.log(2) == ["404", "404"])
    }
}
