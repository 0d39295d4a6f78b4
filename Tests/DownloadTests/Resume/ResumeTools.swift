import FoundationEssentials
import Glibc
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import WebImage

@testable import WebImageCache
@testable import WebImageHTTP
@testable import WebImageLoading
@testable import WebImageSupport

/// A store of parts whose jobs run when a test says so, in virtual time.
final class PartialStoreHarness {
    let directory = TemporaryDirectory()
    /// The present time, which files written by a test get.
    let clock = ManualClock(wallTime: ClockSource.system.wallTime())
    let queue = WorkQueue(stepped: "partials")
    var path: String { directory.path("partial") }

    /// A store over the directory: one per process.
    func store(limits: PartialDownloads.Limits = .init(), calls: FileCalls = .system) -> PartialDownloads {
        PartialDownloads(directory: path, limits: limits, clock: clock.source, calls: calls, queue: queue)
    }

    /// Runs the queue's jobs.
    func run() { while let job = queue.takeNext() { job() } }

    func keep(_ bytes: [UInt8], _ request: DownloadRequest = .plain, total: Int? = nil, in store: PartialDownloads) {
        store.save(.sample(bytes, request, total: total))
        run()
    }

    /// Returns the part that a store finds for a request.
    func claim(_ request: DownloadRequest = .plain, limit: Int = .max, in store: PartialDownloads) -> PartialDownload? {
        let found = Lock<PartialDownload?>(nil)
        _ = store.find(request, limit: limit) { part in found.withLock { $0 = part } }
        run()
        return found.withLock { $0 }
    }

    /// The directory of the files.
    var filesPath: String { store().path }

    func filePath(_ request: DownloadRequest = .plain) -> String {
        filesPath + "/" + CacheFileName(key: PartialKey(request)?.text ?? "").string
    }

    func file(_ request: DownloadRequest = .plain) -> [UInt8]? { Self.bytes(filePath(request)) }

    /// The files of parts.
    var names: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: filesPath)) ?? []
        return names.filter { CacheFileName.isEntryName($0.utf8) }
    }

    /// The number of body bytes in them.
    var sizes: [Int] {
        names.isEmpty ? [] : DiskCache(path: filesPath).entries().map(\.byteCount).sorted()
    }

    static func bytes(_ path: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(filePath: path))).map { [UInt8]($0) }
    }

    static func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }
}

extension DownloadRequest {
    static let plain = DownloadRequest(url: testURL("/a.jpg"), headers: ["Accept": "image/*"])

    static func plain(_ path: String, headers: HTTPHeaders = [:]) -> DownloadRequest {
        DownloadRequest(url: testURL(path), headers: headers)
    }
}

extension PartialDownload {
    /// Returns a part for a request with an entity tag.
    static func sample(_ bytes: [UInt8], _ request: DownloadRequest = .plain, total: Int? = nil) -> PartialDownload {
        let head = PartialHead(
            key: PartialKey(request) ?? PartialKey(urlHash: 0, digest: ""),
            validator: .entityTag("\"one\""),
            total: total.map(Int64.init),
            lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
            contentType: "image/jpeg"
        )
        return PartialDownload(head: head, bytes: Data(bytes))
    }
}

/// A downloader in virtual time with a store of parts, over a transport that the test drives.
final class ResumeHarness {
    let files = PartialStoreHarness()
    let transport = FakeTransport()
    let delays = ManualClock()
    let store: PartialDownloads
    let downloader: WebImageDownloader

    init(usesStore: Bool = true, _ change: (inout WebImageDownloaderConfig) -> Void = { _ in }) {
        var config = WebImageDownloaderConfig()
        config.retryPolicy = .never
        change(&config)
        let store = files.store()
        self.store = store
        // Otherwise a configuration change would create another store.
        if usesStore { config.partialDownloadDirectory = store.directory }
        downloader = WebImageDownloader(
            core: DownloaderCore(
                config: config,
                transport: transport,
                clock: delays.source,
                delays: delays.delays,
                makePartials: { _, _, _ in usesStore ? store : nil },
                random: { 0.5 }
            ),
            pipeline: .prompt
        )
    }

    /// The bytes sent for the image.
    var request: DownloadRequest { transport.transfers.first.map(\.request).map(Self.request) ?? .plain }

    private static func request(_ sent: HTTPTransferRequest) -> DownloadRequest {
        DownloadRequest(url: sent.url, headers: sent.headers)
    }

    /// Starts a download and returns its transfer, if one was started.
    @discardableResult
    func start(
        _ recorder: Recorder = Recorder(),
        headers: HTTPHeaders = [:],
        _ change: (inout ImageLoadRequest) -> Void = { _ in }
    ) -> FakeTransport.Transfer? {
        let before = transport.transfers.count
        var request = ImageLoadRequest(url: testURL("/a.jpg"), additionalHeaders: headers)
        change(&request)
        if request.partialData == nil {
            _ = downloader.start(request, progress: recorder.onProgress, completion: recorder.onEnd)
        } else {
            _ = downloader.load(request, progress: recorder.onProgress, completion: recorder.onEnd)
        }
        files.run()
        return transport.transfers(from: before).first
    }

    /// A download that is interrupted after some bytes.
    func interrupt(_ bytes: [UInt8], total: Int, headers: HTTPHeaders = ["ETag": "\"one\""], asking: HTTPHeaders = [:])
    {
        let transfer = start(headers: asking)
        transfer?.respond(headers: headers.overlaid(with: ["Content-Length": "\(total)"]))
        transfer?.send(bytes)
        transfer?.end(WebImageError(.networkConnectionLost, "gone"))
        files.run()
    }
}

extension FakeTransport.Transfer {
    /// Responds with the rest of an image.
    func sendRest(of bytes: [UInt8], from start: Int, headers: HTTPHeaders = ["ETag": "\"one\""]) {
        let range: HTTPHeaders = [
            "Content-Range": "bytes \(start)-\(bytes.count - 1)/\(bytes.count)",
            "Content-Length": "\(bytes.count - start)",
        ]
        if let refusal = respond(206, headers: headers.overlaid(with: range)) { return end(refusal) }
        end(send(Array(bytes[start...])))
    }
}
