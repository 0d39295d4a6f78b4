import CTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import WebImage

/// Loads images from a server within a budget of memory, good ones and bombs, and prints what became of each:
///
///     memory-storm BUDGET COUNT BASE DIRECTORY DECODER
///
/// loads COUNT images, BASE/0, BASE/1 and so on, with a budget of so many bytes; risky formats in workers, which are the program DECODER.
///
/// It prints a line for each, "NUMBER ok WIDTHxHEIGHT" or "NUMBER CODE LIMIT", and at the end "peak RESIDENT WORKER MAPPED COUNTED": the
/// most bytes that were resident, here and in a worker, mapped and counted.
enum MemoryStorm {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 5, let budget = Int(arguments[0]), let count = Int(arguments[1]) else {
            throw UsageError()
        }
        // The C library reserves 64 MiB of address space for every few threads otherwise, and keeps big blocks that
        // were freed.
        ctest_limit_heaps()
        DecodedMemoryBudget.shared.byteLimit = budget
        DecodedMemoryBudget.shared.policy = .reject
        DecodedMemoryBudget.shared.patience = 20
        exitProgram {
            await storm(count: count, base: arguments[2], directory: arguments[3], decoder: arguments[4])
            return 0
        }
    }

    private static func load(_ number: Int, _ base: String, _ place: DecodingPlace, _ manager: WebImageManager) async
        -> String
    {
        guard let url = URL(string: "\(base)/\(number)") else { return "\(number) no-url -" }
        var context = WebImageContext()
        context.callbackQueue = .inline
        context.decoding = place
        context.storeCacheType = number % 3 == 0 ? .memory : ImageCacheType.none
        do throws(WebImageError) {
            let image = try await manager.image(with: url, context: context)
            return "\(number) ok \(image.pixelWidth)x\(image.pixelHeight)"
        } catch {
            return "\(number) \(error.code.rawValue) \(error.limit?.name ?? "-")"
        }
    }

    private static func storm(count: Int, base: String, directory: String, decoder: String) async {
        var isolation = DecodeIsolation.risky
        isolation.workerPath = decoder
        // They are checked when all is over.
        isolation.idleTime = 1000
        let place = DecodingPlace.isolated(isolation)
        var config = WebImageDownloaderConfig()
        // Later arrivals are not counted.
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
                        await report.print(await load(number, base, place, manager))
                    }
                }
            }
        }
        await report.print(
            """
            peak \(ProcessStatus.bytes("VmHWM")) \(ProcessStatus.workerPeak()) \(ProcessStatus.bytes("VmPeak")) \
            \(DecodedMemoryBudget.shared.usage.peakByteCount)
            """
        )
    }
}

/// The numbers that are still to be loaded, and lines that are printed one at a time.
private actor Report {
    private var next = 0

    func print(_ text: String) { printLine(text) }

    func number(below count: Int) -> Int? {
        guard next < count else { return nil }
        defer { next += 1 }
        return next
    }
}

/// The system's data about processes.
enum ProcessStatus {
    /// A field: bytes, or a number.
    static func bytes(_ field: String, of process: String = "self") -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(field + ":") } ?? ""
        return (Int(line.split { !$0.isNumber }.first ?? "") ?? 0) * (line.hasSuffix("kB") ? 1024 : 1)
    }

    /// The maximum resident memory of any existing worker.
    static func workerPeak() -> Int {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let workers = processes.filter { Int($0) != nil && bytes("PPid", of: $0) == Int(getpid()) }
        return workers.map { bytes("VmHWM", of: $0) }.max() ?? 0
    }
}
