import CTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import WebImage

/// Loads images from a server while the disk of the cache fails: whatever happens to the cache, the images arrive.
final class LoadRuns: Sendable {
    private static let fixtures = ["JPEG/baseline-420.jpg", "PNG/photo-rgb.png", "JPEG/baseline-422.jpg"]

    private let base: String
    private let stride: Int
    private let pictures: [Data]
    private let server: LoopbackServer
    /// The pixels of each.
    private let expected: [[UInt8]]

    init(directory: String, stride: Int) throws {
        (base, self.stride) = (directory, stride)
        let pictures = try Self.fixtures.map { try Fixtures.data($0) }
        self.pictures = pictures
        expected = try pictures.map {
            try ImageCodersManager.shared.decode($0, options: ImageDecodeOptions()).bitmap.pixels
        }
        let cut = Monitor<Set<String>>([])
        server = try LoopbackServer { request in
            let number = Int(request.path.split(separator: "/").last.flatMap { $0.split(separator: ".").first } ?? "")
            guard let number, pictures.indices.contains(number) else { return .response(404) }
            // An image followed by noise is decoded as well, and is long enough to be kept in part.
            let body = [UInt8](pictures[number]) + [UInt8](repeating: 7, count: 40_000)
            let fields = [("ETag", "\"\(number)\""), ("Content-Length", "\(body.count)")]
            let isFirst = cut.withLock { $0.insert(request.target).inserted }
            if request.path.contains("cut"), isFirst {
                return .script { _, connection in
                    connection.sendHead(200, fields)
                    connection.send(Array(body[..<30_000]))
                    return false
                }
            }
            return .script { _, connection in connection.sendHead(200, fields) && connection.send(body) }
        }
    }

    /// The number of failures.
    func run(_ disturbance: Disturbance) async -> Int {
        let begun = ContinuousClock.now
        var failures = await attempt(disturbance, at: .max - 10).failures
        let count = await attempt(disturbance, at: .max - 10).count
        var runs = 0
        for number in Swift.stride(from: 1 + disturbance.name.utf8.count % stride, through: count, by: stride) {
            alarm(60)
            runs += 1
            failures += await attempt(disturbance, at: number).failures
        }
        alarm(0)
        let time = begun.duration(to: .now)
        printLine("\(disturbance): \(count) calls, \(runs) runs, \(failures.count) failures, \(time)")
        for failure in failures.prefix(5) { printLine("FAILED \(failure)") }
        return failures.count
    }

    private func attempt(_ disturbance: Disturbance, at number: Int) async -> (count: Int, failures: [String]) {
        try? FileManager.default.removeItem(atPath: base)
        mkdir(base, 0o700)
        disturbance.plan(at: number).begin(in: base)
        var failures = await loadAll()
        let (count, call) = FaultPlan.end()
        if !isClosed() { failures.append("files were left open") }
        let where_ = "\(disturbance) at call \(number) (\(call.map { "\($0)" } ?? "none"))"
        return (count, failures.map { "\(where_): \($0)" })
    }

    /// Returns whether all files are closed, which other threads do after the last result.
    private func isClosed() -> Bool {
        let end = ContinuousClock.now + .seconds(10)
        while ctest_open_descriptors(base) > 0 {
            guard ContinuousClock.now < end else { return false }
            sched_yield()
        }
        return true
    }

    /// Loads all images with an empty memory, twice, and one whose first download is interrupted. Returns the errors.
    func loadAll() async -> [String] {
        var failures = await loadOnce()
        failures += await loadOnce()
        return failures
    }

    /// Loads one image with an empty memory. Returns the errors.
    func loadFirst() async -> [String] {
        let cache = ImageCache(namespace: "first", directory: base + "/cache")
        return await load("/0.pic", 0, WebImageManager(cache: cache, loader: WebImageDownloader(config: .init())))
    }

    private func loadOnce() async -> [String] {
        let cache = ImageCache(namespace: "default", directory: base + "/cache")
        var config = WebImageDownloaderConfig()
        config.partialDownloadDirectory = base + "/partial"
        config.hostBackOff = .never
        let manager = WebImageManager(cache: cache, loader: WebImageDownloader(config: config))
        var failures: [String] = []
        for index in pictures.indices { failures += await load("/\(index).pic", index, manager) }
        // The first attempt may fail: the server interrupts it.
        let unique = UInt64.random(in: .min ... .max)
        _ = try? await manager.image(with: server.url("/cut/0.pic?\(unique)"))
        failures += await load("/cut/0.pic?\(unique)", 0, manager)
        await cache.removeExpiredData()
        if await seconds(toEnd: cache) > 10 { failures.append("the cache did not come to an end") }
        return failures
    }

    private func load(_ path: String, _ index: Int, _ manager: WebImageManager) async -> [String] {
        do throws(WebImageError) {
            let image = try await manager.image(with: server.url(path), options: .retryFailed)
            return image.bitmap.pixels == expected[index] ? [] : ["\(path) is another image"]
        } catch {
            return ["\(path): \(error)"]
        }
    }

    /// The time that a cache takes for pending writes, and to trim, as far as the disk permits.
    private func seconds(toEnd cache: ImageCache) async -> Double {
        await withCheckedContinuation { continuation in
            startThread {
                let begun = ContinuousClock.now
                cache.prepareForExit(within: 20)
                continuation.resume(returning: begun.duration(to: .now) / .seconds(1))
            }
        }
    }
}

/// The order of events while every call on the disk is slow.
enum SlowRun {
    /// Microseconds.
    private static let delay = 20_000

    static func run(_ directory: String) async throws -> [String] {
        mkdir(directory, 0o700)
        let cache = ImageCache(namespace: "default", directory: directory + "/cache")
        let picture = try ImageCodersManager.shared.decode(
            Fixtures.data("PNG/photo-rgb.png"),
            options: ImageDecodeOptions()
        )
        for number in 0..<8 {
            await cache.store(picture, data: HammerImage.bytes(number, version: 1), forKey: "\(number)")
        }
        FaultPlan(.delay, delay, numbers: 1 ... .max).begin(in: directory)
        let log = Monitor<[String]>([])
        let reads = (0..<8).map { number in
            Task.detached {
                let data = await cache.diskData(forKey: "\(number)")
                log.withLock { $0.append(data == HammerImage.bytes(number, version: 1) ? "disk" : "miss") }
            }
        }
        if cache.imageFromMemory(forKey: "1") != nil { log.withLock { $0.append("memory") } }
        await Task.detached { log.withLock { $0.append("task") } }.value
        for read in reads { await read.value }
        let failures = await (try LoadRuns(directory: directory, stride: 1)).loadFirst()
        log.withLock { $0.append(failures.isEmpty ? "picture" : "\(failures)") }
        _ = FaultPlan.end()
        return log.withLock { lines in
            let first = lines.prefix { $0 != "disk" }
            let rest = lines.dropFirst(first.count)
            // All eight, reported as one.
            return first + (rest.prefix { $0 == "disk" }.count == 8 ? ["disk"] : []) + rest.drop { $0 == "disk" }
        }
    }
}
