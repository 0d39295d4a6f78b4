import FoundationEssentials
import Glibc
import TestSupport
import WebImage

/// Loads of images that nginx serves with typical administrators' settings, and the requests in its access log.
final class NginxCachingSeries: Sendable {
    private struct WriteFailure: Error {}

    /// Names of images and their cache fields.
    private static let locations = """
        location = /fresh.png { expires 60s; }
        location = /dated.png { etag off; expires 60s; }
        location = /tagged.png { add_header Last-Modified ""; expires 60s; }
        location = /bare.png { etag off; add_header Last-Modified ""; add_header Cache-Control max-age=60; }
        location = /past.png { expires epoch; }
        location = /no-cache.png { add_header Cache-Control no-cache; }
        location = /no-store.png { add_header Cache-Control no-store; }
        location = /must.png { add_header Cache-Control "max-age=60, must-revalidate"; }
        location = /behind.png { add_header Cache-Control "max-age=60, stale-while-revalidate=600"; }
        location = /strict-behind.png { add_header Cache-Control "max-age=60, stale-while-revalidate=600, must-revalidate"; }
        location = /asked-behind.png { add_header Cache-Control "max-age=60, stale-while-revalidate=600, no-cache"; }
        location = /immutable.png { add_header Cache-Control "max-age=60, immutable"; }
        location = /gone.png { add_header Cache-Control max-age=60 always; return 404; }
        """

    /// 2020-01-01, in seconds since 1970: long ago, so that nginx's heuristics do not depend on the time of the test.
    private static let longAgo = 1_577_836_800

    private let nginx: NginxServer
    private let client: HTTPCacheClient
    private let changes = Lock(0)

    init() async throws {
        nginx = try await NginxServer(
            locations: Self.locations,
            logFormat: "$status|$http_if_none_match|$http_if_modified_since|$http_cache_control"
        )
        // nginx uses the system's time. The client's clock is behind it and stays so: a Date in the future does not add
        // to an age.
        client = HTTPCacheClient(clock: ManualClock(wallTime: ClockSource.system.wallTime() - 30 * 86_400))
    }

    /// Replaces the image by one of this width.
    func publish(_ name: String, width: Int) throws {
        let path = nginx.root + "/" + name
        try Data(PNGBomb.make(width: width, height: 1)).write(to: URL(fileURLWithPath: path + ".new"))
        // nginx derives its tag from time and length.
        let day = changes.withLock { count in
            count += 1
            return count
        }
        let time = timespec(tv_sec: Self.longAgo + day * 86_400, tv_nsec: 0)
        guard utimensat(AT_FDCWD, path + ".new", [time, time], 0) == 0, rename(path + ".new", path) == 0
        else {
            throw WriteFailure()
        }
    }

    /// Returns the width of the first image that a load delivers; nil for an error.
    func load(_ name: String, headers: HTTPHeaders = [:]) async -> Int? {
        await client.load(nginx.url("/" + name), headers: headers).width
    }

    /// Returns the widths of at least this many images that a refreshing load delivers.
    func refresh(_ name: String, atLeast count: Int = 1) async -> [Int] {
        await client.load(nginx.url("/" + name), options: .refreshCached, atLeast: count).widths
    }

    func pass(_ seconds: Double) { client.clock.advance(seconds) }
    func setClock(by seconds: Double) { client.clock.jump(seconds) }
    func restart() async { await client.restart() }

    /// Returns the lines of the access log, once it has this many: status, and the conditions that were sent.
    func log(_ count: Int) async -> [String] {
        await nginx.log(count: count).map { line in
            let parts = line.split(separator: "|", omittingEmptySubsequences: false)
            guard parts.count == 4 else { return line }
            let conditions = [parts[1] == "-" ? nil : "etag", parts[2] == "-" ? nil : "date"].compactMap(
                \.self
            )
            return ([String(parts[0])] + conditions).joined(separator: " ")
        }
    }
}
