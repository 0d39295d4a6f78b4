// Loads pictures from a server within a budget of memory, good ones and bombs, and says what became of each:
//
//   memory-storm BUDGET COUNT BASE DIRECTORY DECODER
//
// loads COUNT pictures, BASE/0, BASE/1 and so on, with a budget of so many bytes; risky formats in workers, which are the program DECODER.
//
// It prints a line for each, "NUMBER ok WIDTHxHEIGHT" or "NUMBER CODE LIMIT", and at the end "peak RESIDENT WORKER MAPPED COUNTED": the
// most bytes that were resident, here and in a worker, mapped and counted.
import CTestSupport
import FoundationEssentials
import Glibc
import WebImage

/// Lines, one at a time, and the numbers that are still to be loaded.
actor Report {
    private var next = 0

    func say(_ text: String) {
        var line = text + "\n"
        line.withUTF8 { _ = write(1, $0.baseAddress, $0.count) }
    }

    func number(below count: Int) -> Int? {
        guard next < count else { return nil }
        defer { next += 1 }
        return next
    }
}

/// A field of what the system says of a process: bytes, or a number.
func status(_ field: String, of process: String = "self") -> Int {
    let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(field + ":") } ?? ""
    return (Int(line.split { !$0.isNumber }.first ?? "") ?? 0) * (line.hasSuffix("kB") ? 1024 : 1)
}

/// The most that any worker there is has had resident.
func workerPeak() -> Int {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    let workers = processes.filter { Int($0) != nil && status("PPid", of: $0) == Int(getpid()) }
    return workers.map { status("VmHWM", of: $0) }.max() ?? 0
}

enum Decoding {
    static let place: DecodingPlace = {
        var isolation = DecodeIsolation.risky
        isolation.workerPath = CommandLine.arguments.last
        // They are looked at when all is over.
        isolation.idleTime = 1000
        return .isolated(isolation)
    }()
}

func load(_ number: Int, _ base: String, _ manager: WebImageManager) async -> String {
    guard let url = URL(string: "\(base)/\(number)") else { return "\(number) no-url -" }
    var context = WebImageContext()
    context.callbackQueue = .inline
    context.decoding = Decoding.place
    context.storeCacheType = number % 3 == 0 ? .memory : ImageCacheType.none
    do throws(WebImageError) {
        let image = try await manager.image(with: url, context: context)
        return "\(number) ok \(image.pixelWidth)x\(image.pixelHeight)"
    } catch {
        return "\(number) \(error.code.rawValue) \(error.limit?.name ?? "-")"
    }
}

func storm(count: Int, base: String, directory: String) async {
    var config = WebImageDownloaderConfig()
    // What arrives is not counted.
    config.maxConcurrentDownloads = 4
    config.maximumResponseByteCount = 2 << 20
    config.downloadTimeout = 60
    let manager = WebImageManager(
        cache: ImageCache(directory: directory),
        loader: WebImageDownloader(config: config)
    )
    let report = Report()
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<32 {
            group.addTask {
                while let number = await report.number(below: count) {
                    await report.say(await load(number, base, manager))
                }
            }
        }
    }
    await report.say(
        "peak \(status("VmHWM")) \(workerPeak()) \(status("VmPeak")) \(DecodedMemoryBudget.shared.usage.peakByteCount)"
    )
}

let words = CommandLine.arguments
guard words.count == 6, let budget = Int(words[1]), let count = Int(words[2]) else { exit(2) }
// The C library reserves 64 MiB of address space for every few threads otherwise, and keeps big blocks that were freed.
ctest_limit_heaps()
DecodedMemoryBudget.shared.byteLimit = budget
DecodedMemoryBudget.shared.policy = .reject
DecodedMemoryBudget.shared.patience = 20
await storm(count: count, base: words[3], directory: words[4])
