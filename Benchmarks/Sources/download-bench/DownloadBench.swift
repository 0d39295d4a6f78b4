import BenchSupport
import Dispatch
import FoundationEssentials
import WebImage

/// `download-bench AT_ONCE URLS`: downloads each URL of the list into memory; requests per second, processor time, bytes.
/// The arguments and the answers of the C program fetch-parallel.
@main struct DownloadBench {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 2, let atOnce = Int(arguments[0]) else {
            Measurement.stop("usage: download-bench AT_ONCE URLS")
        }
        let urls = try InputFile.lines(arguments[1]).compactMap { URL(string: $0) }
        let start = Measurement.now()
        let processorTime = Measurement.processorTime()
        let bytes = try download(urls, atOnce: atOnce)
        let elapsed = Measurement.now() - start
        Measurement.report("requests", Double(urls.count) / elapsed, "1/s")
        Measurement.report("cpu", Measurement.processorTime() - processorTime, "s")
        Measurement.report("bytes", Double(bytes), "B")
        Measurement.report("peak", Measurement.peakMegabytes(), "MB")
    }

    static func download(_ urls: [URL], atOnce: Int) throws -> Int {
        var config = WebImageDownloaderConfig()
        config.maxConcurrentDownloads = atOnce
        let downloader = WebImageDownloader(config: config)
        let done = DispatchGroup()
        let tally = Tally()
        for url in urls {
            done.enter()
            downloader.downloadData(with: url, callbackQueue: .inline) { result in
                switch result {
                case .success(let loaded): tally.add(loaded.data.count)
                case .failure(let error): Measurement.stop("\(url): \(error)")
                }
                done.leave()
            }
        }
        done.wait()
        return tally.sum
    }
}

/// A sum that the network's thread adds to.
final class Tally: @unchecked Sendable {
    // Sendable because every access goes through the queue.
    private let queue = DispatchQueue(label: "tally")
    private var total = 0

    var sum: Int { queue.sync { total } }
    func add(_ count: Int) { queue.sync { total += count } }
}
