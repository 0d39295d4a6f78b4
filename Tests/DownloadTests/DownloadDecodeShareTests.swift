import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

/// A coder that counts, waits at a gate if it has one, and refuses data that starts with a zero.
private final class CountingCoder: ImageCoder {
    private let log = Lock<[ImageDecodeOptions]>([])
    private let gate: Gate?

    init(gate: Gate? = nil) { self.gate = gate }

    var decodes: [ImageDecodeOptions] { log.withLock { $0 } }

    func canDecode(_ data: Data) -> Bool { true }
    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        ImageProperties(format: .png, width: 1, height: 1)
    }
    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        log.withLock { $0.append(options) }
        gate?.wait()
        guard data.first != 0 else { throw WebImageError(.badImageData, "a zero") }
        return .tiny()
    }
    func canEncode(to format: ImageFormat) -> Bool { false }
    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data {
        throw WebImageError(.encodingFailed, "")
    }
}

/// A coder that is a value and holds another: two of this type need not decode the same.
private struct WrappingCoder: ImageCoder {
    let inner: CountingCoder
    func canDecode(_ data: Data) -> Bool { true }
    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try inner.properties(of: data, limits: limits)
    }
    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try inner.decode(data, options: options)
    }
    func canEncode(to format: ImageFormat) -> Bool { false }
    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data {
        try inner.encode(image, to: format, options: options)
    }
}

/// The images that callers got.
private final class ImageRecorder: Sendable {
    private let list = Lock<[Result<DownloadedImage, WebImageError>]>([])
    let counter = EventCounter()

    var results: [Result<DownloadedImage, WebImageError>] { list.withLock { $0 } }
    var images: [Image] { results.compactMap { try? $0.get().image } }
    var codes: [WebImageError.Code] {
        results.compactMap {
            if case .failure(let error) = $0 { return error.code }
            return nil
        }
    }

    @Sendable func note(_ result: Result<DownloadedImage, WebImageError>) {
        list.withLock { $0.append(result) }
        counter.signal()
    }
}

@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct DownloadDecodeShareTests {
    private let transport = FakeTransport()
    private let downloader: WebImageDownloader

    init() { downloader = WebImageDownloader(config: .init(), transport: transport) }

    private func start(
        _ recorder: ImageRecorder,
        _ coder: any ImageCoder,
        options: ImageDecodeOptions = ImageDecodeOptions()
    ) -> WebImageDownloadToken {
        downloader.downloadImage(
            with: testURL("/a"),
            decodeOptions: options,
            coder: coder,
            callbackQueue: .inline,
            completion: recorder.note
        )
    }

    @Test func `Requests with equal options share one decode`() async {
        let coder = CountingCoder()
        let recorder = ImageRecorder()
        var other = ImageDecodeOptions()
        other.decodeFirstFrameOnly = true
        for number in 0..<10 { _ = start(recorder, coder, options: number % 5 == 4 ? other : ImageDecodeOptions()) }
        transport.transfers[0].complete([1])
        await recorder.counter.wait(for: 10)
        #expect(coder.decodes.count == 2 && Set(coder.decodes).count == 2)
        #expect(recorder.images.count == 10)
        #expect(Set(recorder.images.map(ObjectIdentifier.init)).count == 2)
    }

    @Test func `Coders that may differ do not share`() async {
        let (first, second) = (CountingCoder(), CountingCoder())
        let recorder = ImageRecorder()
        for coder in [first, second] { _ = start(recorder, coder) }
        for _ in 0..<2 { _ = start(recorder, WrappingCoder(inner: first)) }
        transport.transfers[0].complete([1])
        await recorder.counter.wait(for: 4)
        #expect(first.decodes.count == 3 && second.decodes.count == 1)
    }

    @Test func `Each failing caller completes once`() async {
        let coder = CountingCoder()
        let recorders = (0..<50).map { _ in ImageRecorder() }
        for recorder in recorders { _ = start(recorder, coder) }
        transport.transfers[0].complete([0])
        for recorder in recorders {
            await recorder.counter.wait(for: 1)
            #expect(recorder.codes == [.badImageData])
            if case .failure(let error)? = recorder.results.first { #expect(error.url == testURL("/a")) }
        }
        #expect(coder.decodes.count == 1)
        #expect(recorders.allSatisfy { $0.results.count == 1 })
    }

    @Test func `A caller that cancels during decoding leaves the others`() async {
        let gate = Gate()
        let coder = CountingCoder(gate: gate)
        let (first, second) = (ImageRecorder(), ImageRecorder())
        let token = start(first, coder)
        _ = start(second, coder)
        transport.transfers[0].complete([1])
        await gate.arrivals()
        token.setPriority(.high)
        token.cancel()
        #expect(first.codes == [.cancelled] && token.isCancelled)
        gate.open()
        await second.counter.wait(for: 1)
        #expect(second.images.count == 1 && first.results.count == 1 && coder.decodes.count == 1)
    }

    @Test func `A caller that joins while others decode gets the same image`() async {
        let gate = Gate()
        let coder = CountingCoder(gate: gate)
        let recorder = ImageRecorder()
        let first = start(recorder, coder)
        transport.transfers[0].complete([1])
        await gate.arrivals()
        let second = start(recorder, coder)
        #expect(transport.transfers.count == 1 && second.response?.statusCode == 200)
        gate.open()
        await recorder.counter.wait(for: 2)
        #expect(coder.decodes.count == 1)
        #expect(Set(recorder.images.map(ObjectIdentifier.init)).count == 1)
        // After the end there is no subscriber left to cancel.
        first.cancel()
        second.setPriority(.low)
        #expect(recorder.results.count == 2 && !first.isCancelled)
        _ = start(recorder, coder)
        #expect(transport.transfers.count == 2, "nothing is kept")
    }

    /// A downloader that decodes images one after the other, once the gate opens.
    private func oneDecoder(_ gate: Gate) async -> (WebImageDownloader, FakeTransport) {
        let queue = WorkQueue(name: "test", width: 1)
        queue.submit { gate.wait() }
        await gate.arrivals()
        let transport = FakeTransport()
        let core = DownloaderCore(config: WebImageDownloaderConfig(), transport: transport)
        return (WebImageDownloader(core: core, pipeline: Pipeline(decodeQueue: queue)), transport)
    }

    @Test func `A decode that all callers cancelled is not begun, and one requested again is`() async {
        let gate = Gate()
        let (downloader, transport) = await oneDecoder(gate)
        let coder = CountingCoder()
        let (unwanted, wanted) = (ImageRecorder(), ImageRecorder())
        func ask(_ recorder: ImageRecorder) -> WebImageDownloadToken {
            downloader.downloadImage(
                with: testURL("/a"),
                coder: coder,
                callbackQueue: .inline,
                completion: recorder.note
            )
        }
        let tokens = (0..<2).map { _ in ask(unwanted) }
        transport.transfers[0].complete([1])
        for token in tokens { token.cancel() }
        for token in tokens { token.cancel() }
        #expect(unwanted.codes == [.cancelled, .cancelled])
        _ = ask(wanted)
        transport.transfers.last?.complete([1])
        gate.open()
        await wanted.counter.wait(for: 1)
        #expect(unwanted.results.count == 2 && wanted.images.count == 1 && coder.decodes.count == 1)
    }

    @Test func `A decode has the priority of its most urgent caller`() async {
        let gate = Gate()
        let (downloader, transport) = await oneDecoder(gate)
        let order = Lock<[String]>([])
        let ends = EventCounter()
        let coder = CountingCoder()
        func ask(_ path: String, _ name: String, _ options: WebImageOptions) -> WebImageDownloadToken {
            downloader.downloadImage(
                with: testURL(path),
                options: options,
                coder: coder,
                callbackQueue: .inline
            ) { result in
                guard case .success = result else { return }
                order.withLock { $0.append(name) }
                ends.signal()
            }
        }
        _ = ask("/0", "plain", [])
        _ = ask("/1", "raised", .lowPriority)
        let urgent = ask("/1", "left", .highPriority)
        let joined = ask("/2", "joined", .lowPriority)
        _ = ask("/2", "joined", .lowPriority)
        for transfer in transport.transfers { transfer.complete([1]) }
        urgent.cancel()
        joined.setPriority(.high)
        gate.open()
        await ends.wait(for: 4)
        #expect(order.withLock { $0 } == ["joined", "joined", "plain", "raised"])
    }

    @Test func `Nothing is retained when all have their images`() async {
        weak let kept: Image?
        do {
            let recorder = ImageRecorder()
            for _ in 0..<3 { _ = start(recorder, CountingCoder()) }
            transport.transfers[0].complete([1])
            await recorder.counter.wait(for: 3)
            kept = recorder.images.first
            #expect(kept != nil)
        }
        // The decode thread may not have released its job yet.
        #expect(await becomes { kept == nil })
    }
}
