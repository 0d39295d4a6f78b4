import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@Suite(.tags(.threadSanitizer)) struct DecryptorTests {
    private struct Failure: Error {}

    private let transport = FakeTransport()
    private let downloader: WebImageDownloader

    init() { downloader = WebImageDownloader(transport: transport) }

    /// Returns the result of a download of `bytes`.
    private func end(_ bytes: [UInt8], decryptor: DownloadDecryptor?) async -> Recorder {
        let recorder = Recorder()
        downloader.start(testURL("/a"), recorder, context: .with { $0.downloadDecryptor = decryptor })
        transport.transfers.last?.complete(bytes)
        await recorder.end()
        return recorder
    }

    @Test func `Data decrypted from base64 is the image`() async throws {
        let image = try Fixtures.data("JPEG/baseline-420.jpg")
        let harness = try EndToEndHarness { _ in
            .response(headers: [("X", "1")], body: Array(image.base64EncodedString().utf8))
        }
        harness.downloader.decryptor = .base64
        let url = harness.server.url("/a")
        _ = try await harness.manager.image(with: url)
        let stored = await harness.cache.diskData(forKey: url.absoluteString)
        #expect(stored == image, "caches have the bytes of the image")
        let loaded = try await harness.downloader.downloadData(with: url)
        #expect(loaded.data == image && loaded.response?.headers["X"] == "1" && loaded.metrics != nil)
    }

    @Test(.timeLimit(.minutes(10))) func `Nil, an error or an empty body is bad data with its cause`() async {
        let nothing = await end([1], decryptor: DownloadDecryptor { _, _ in nil })
        #expect(nothing.code == .badImageData && nothing.results.count == 1)
        let empty = await end([1], decryptor: DownloadDecryptor { _, _ in Data() })
        #expect(empty.code == .badImageData)
        let failure = await end([1], decryptor: DownloadDecryptor { _, _ in throw Failure() })
        #expect(failure.code == .badImageData && failure.error?.underlyingError is Failure)
        #expect(failure.error?.url == testURL("/a"))
    }

    @Test(.timeLimit(.minutes(10))) func `The decrypted size is checked against the limit`() async {
        downloader.config.maximumResponseByteCount = 1000
        let bomb = await end([1], decryptor: DownloadDecryptor { _, _ in Data(count: 1001) })
        #expect(bomb.error?.limit == .init(name: "maximumResponseByteCount", allowed: 1000, required: 1001))
        let most = await end([1], decryptor: DownloadDecryptor { _, _ in Data(count: 1000) })
        #expect(most.data?.count == 1000)
    }

    @Test(.timeLimit(.minutes(10))) func `It gets the whole body and the response, and no failed ones`() async {
        let calls = Monitor<[(Data, HTTPResponse?)]>([])
        let decryptor = DownloadDecryptor { data, response in
            calls.withLock { $0.append((data, response)) }
            return data
        }
        let whole = await end([1, 2, 3], decryptor: decryptor)
        #expect(whole.data == Data([1, 2, 3]))
        #expect(await end([], decryptor: decryptor).code == .badImageData)
        let failed = Recorder()
        downloader.start(testURL("/a"), failed, context: .with { $0.downloadDecryptor = decryptor })
        transport.transfers.last?.respond(500)
        transport.transfers.last?.end(WebImageError(.networkConnectionLost, "lost"))
        #expect(failed.code == .networkConnectionLost)
        let seen = calls.withLock { $0 }
        #expect(seen.count == 1 && seen.first?.0 == Data([1, 2, 3]) && seen.first?.1?.statusCode == 200)
    }

    @Test(.timeLimit(.minutes(10))) func `The context's decryptor replaces the downloader's`() async {
        downloader.decryptor = DownloadDecryptor { _, _ in nil }
        let own = await end([1], decryptor: DownloadDecryptor { data, _ in data + [2] })
        #expect(own.data == Data([1, 2]))
        #expect(await end([1], decryptor: nil).code == .badImageData)
    }

    @Test(.timeLimit(.minutes(10))) func `The network continues while it works, and cancelling does not wait for it`()
        async
    {
        let (gate, begun) = (Gate(), Monitor(false))
        let slow = DownloadDecryptor { data, _ in
            begun.withLock { $0 = true }
            gate.wait()
            return data
        }
        let recorder = Recorder()
        let token = downloader.start(testURL("/slow"), recorder, context: .with { $0.downloadDecryptor = slow })
        transport.transfers[0].complete([1])
        _ = await begun.value { $0 ? true : nil }
        let other = Recorder()
        downloader.start(testURL("/other"), other)
        transport.transfers[1].complete([2])
        #expect(other.data == Data([2]) && recorder.results.isEmpty)
        token.cancel()
        #expect(recorder.code == .cancelled)
        gate.open()
        #expect(await end([3], decryptor: DownloadDecryptor { data, _ in data }).data == Data([3]))
        #expect(recorder.results.count == 1)
    }

    @Test(.timeLimit(.minutes(10))) func `The download slot is free while it works`() async {
        downloader.config.maxConcurrentDownloads = 1
        let gate = Gate()
        let slow = DownloadDecryptor { data, _ in
            gate.wait()
            return data
        }
        let recorder = Recorder()
        downloader.start(testURL("/slow"), recorder, context: .with { $0.downloadDecryptor = slow })
        let other = Recorder()
        downloader.start(testURL("/other"), other)
        #expect(transport.transfers.count == 1)
        transport.transfers[0].complete([1])
        #expect(transport.transfers.count == 2 && recorder.results.isEmpty)
        transport.transfers.last?.complete([2])
        #expect(other.data == Data([2]))
        gate.open()
        await recorder.end()
        #expect(recorder.data == Data([1]))
    }
}
