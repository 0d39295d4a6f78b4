import FoundationEssentials
import Glibc
import HTTPTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageHTTP

@Suite struct FileImageLoaderTests {
    private let directory = TemporaryDirectory()
    private let loader = FileImageLoader()

    private func load(_ url: URL, with loader: FileImageLoader? = nil) async -> Recorder {
        let recorder = Recorder()
        _ = (loader ?? self.loader).load(
            ImageLoadRequest(url: url),
            progress: recorder.onProgress,
            completion: recorder.onEnd
        )
        await recorder.end()
        return recorder
    }

    private func file(_ name: String, _ bytes: [UInt8]) throws -> URL {
        let url = URL(filePath: directory.path(name))
        try Data(bytes).write(to: url)
        return url
    }

    @Test(arguments: [1, 100, 65536, 3_000_001])
    func `A file is read whole`(size: Int) async throws {
        let recorder = await load(try file("a b%ü.jpg", pattern(size)))
        #expect(recorder.data.map { Array($0) } == pattern(size))
        #expect(recorder.progress.first == LoadProgress(receivedByteCount: 0, expectedByteCount: Int64(size)))
        #expect(recorder.progress.last?.fraction == 1)
        #expect(recorder.results.count == 1)
    }

    @Test func `A missing file and a file as directory are not found`() async throws {
        let missing = URL(filePath: directory.path("missing"))
        let recorder = await load(missing)
        #expect(recorder.code == .fileNotFound)
        #expect(recorder.error?.url == missing)
        #expect(recorder.error?.underlyingError as? SystemError == SystemError(number: ENOENT))
        _ = try file("a", [1])
        #expect(await load(URL(filePath: directory.path("a/b"))).code == .fileNotFound)
        #expect(!loader.shouldBlockFailedURL(missing, error: WebImageError(.fileNotFound, "")))
    }

    @Test func `A special file is refused and does not block`() async {
        mkfifo(directory.path("pipe"), 0o600)
        #expect(await load(URL(filePath: directory.path("pipe"))).code == .fileAccessFailed)
        #expect(await load(URL(filePath: directory.path)).code == .fileAccessFailed)
        #expect(await load(URL(filePath: "/dev/zero")).code == .fileAccessFailed)
    }

    @Test(.enabled(if: geteuid() != 0)) func `A file without permission is not accessible`() async throws {
        let url = try file("secret", [1])
        chmod(directory.path("secret"), 0)
        #expect(await load(url).code == .fileAccessFailed)
    }

    @Test func `An empty file is bad image data`() async throws {
        #expect(await load(try file("empty", [])).code == .badImageData)
    }

    @Test func `A file above the limit is refused, also one that does not report its size`() async throws {
        let small = FileImageLoader(maximumFileByteCount: 1000)
        let recorder = await load(try file("big", pattern(1001)), with: small)
        #expect(recorder.error?.limit == .init(name: "maximumFileByteCount", allowed: 1000, required: 1001))
        #expect(await load(try file("fits", pattern(1000)), with: small).data?.count == 1000)
        // Its reported size is 0.
        #expect(await load(URL(filePath: "/proc/cpuinfo"), with: small).code == .limitExceeded)
        #expect((await load(URL(filePath: "/proc/cpuinfo")).data?.count ?? 0) > 1000)
    }

    @Test(arguments: [Int.max, 0, -1, .min])
    func `A limit may be any number`(limit: Int) async throws {
        let loader = FileImageLoader(maximumFileByteCount: limit)
        let recorder = await load(try file("a", pattern(100)), with: loader)
        #expect(limit == .max ? recorder.data?.count == 100 : recorder.code == .limitExceeded)
        // Its reported size is 0.
        let unsized = await load(URL(filePath: "/proc/cpuinfo"), with: loader)
        #expect(limit == .max ? (unsized.data?.count ?? 0) > 1000 : unsized.code == .limitExceeded)
    }

    @Test(arguments: ["file://elsewhere.test/a.jpg", "file:///tmp/a%00b"])
    func `A URL that is not of a local file is invalid`(text: String) async throws {
        let url = try #require(URL(string: text))
        #expect(loader.canLoad(url, options: []))
        #expect(await load(url).code == .invalidURL)
    }

    @Test func `The host may be localhost`() async throws {
        _ = try file("a", [1])
        let url = try #require(URL(string: "file://localhost\(directory.path("a"))"))
        #expect(await load(url).data == Data([1]))
    }

    @Test func `A load cancelled before it starts does not read`() async throws {
        let queue = WorkQueue(name: "test", width: 1)
        let gate = Gate()
        queue.submit { gate.wait() }
        #expect(await gate.arrivals())
        let loader = FileImageLoader(maximumFileByteCount: 100, queue: queue)
        let recorder = Recorder()
        let request = ImageLoadRequest(url: try file("a", [1]))
        let operation = loader.load(request, progress: recorder.onProgress, completion: recorder.onEnd)
        operation.setPriority(.high)
        operation.cancel()
        #expect(recorder.code == .cancelled && operation.isCancelled)
        gate.open()
        await onThread { gate.wait() }
        #expect(recorder.results.count == 1 && recorder.progress.isEmpty)
        #expect(queue.waitingCount == 0)
    }
}
