import FoundationEssentials
import Glibc
import TestSupport
import WebImage

/// What comes in which order while every call on the disk takes its time.
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
            await cache.store(picture, data: HammerPicture.bytes(number, version: 1), forKey: "\(number)")
        }
        FaultPlan(.delay, delay, numbers: 1 ... .max).begin(in: directory)
        let log = Monitor<[String]>([])
        let reads = (0..<8).map { number in
            Task.detached {
                let data = await cache.diskData(forKey: "\(number)")
                log.withLock { $0.append(data == HammerPicture.bytes(number, version: 1) ? "disk" : "miss") }
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
            // All eight, told as one.
            return first + (rest.prefix { $0 == "disk" }.count == 8 ? ["disk"] : []) + rest.drop { $0 == "disk" }
        }
    }
}
