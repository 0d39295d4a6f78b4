import FoundationEssentials
import Glibc
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// A coder whose images are as wide as the data is long.
private struct LengthCoder: ImageCoder {
    var gate: Gate?

    func canDecode(_ data: Data) -> Bool { true }
    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        ImageProperties(format: .png, width: data.count, height: 1)
    }
    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        gate?.wait()
        guard data.first != 0 else { throw WebImageError(.badImageData, "a zero") }
        let width = min(data.count, Int(options.thumbnailPixelSize?.width ?? 1e6))
        let bitmap = try Bitmap.allocate(width: width, height: 1, pixelFormat: .bgra8Premultiplied)
        return Image(bitmap: bitmap, decodeOptions: options)
    }
    func canEncode(to format: ImageFormat) -> Bool { false }
    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data {
        throw WebImageError(.encodingFailed, "")
    }
}

@Suite(.tags(.threadSanitizer, .addressSanitizer), .timeLimit(.minutes(10))) struct DownloadImageTests {
    private let transport = FakeTransport()
    private let downloader: WebImageDownloader

    init() { downloader = WebImageDownloader(config: .init(), transport: transport) }

    @Test func `Callers share the bytes and decode with their own options`() async throws {
        let downloader = downloader
        let transport = transport
        var thumbnail = ImageDecodeOptions()
        thumbnail.thumbnailPixelSize = ImageSize(width: 2, height: 2)
        let options = thumbnail
        async let small = downloader.downloadImage(with: testURL("/a"), decodeOptions: options, coder: LengthCoder())
        async let full = downloader.downloadImage(
            with: testURL("/a"),
            options: [.decodeFirstFrameOnly, .scaleDownLargeImages],
            coder: LengthCoder()
        )
        await wait(while: downloader.statistics.callers < 2 || transport.transfers.isEmpty)
        transport.transfers[0].complete([1, 2, 3, 4, 5])
        let (smallImage, fullImage) = try await (small, full)
        #expect(smallImage.image.pixelWidth == 2 && fullImage.image.pixelWidth == 5)
        #expect(fullImage.data == Data([1, 2, 3, 4, 5]) && fullImage.response?.statusCode == 200)
        #expect(fullImage.image.decodeOptions?.decodeFirstFrameOnly == true)
        #expect(fullImage.image.decodeOptions?.scaleDownLimitBytes == ImageDecodeOptions.defaultScaleDownLimitBytes)
        #expect(smallImage.image.decodeOptions?.decodeFirstFrameOnly == false)
        #expect(transport.transfers.count == 1)
    }

    @Test func `The scale is taken from the name, with a context and without one`() async throws {
        let (downloader, transport) = (downloader, transport)
        let contexts: [WebImageContext?] = [nil, WebImageContext()]
        for (index, context) in contexts.enumerated() {
            let url = testURL("/\(index)@2x.png")
            async let made = downloader.downloadImage(with: url, context: context, coder: LengthCoder())
            await wait(while: transport.transfers.count <= index)
            transport.transfers[index].complete([1, 2])
            #expect(try await made.image.decodeOptions?.scaleFactor == 2)
        }
    }

    @Test func `Data that cannot be decoded is an error with the URL`() async {
        let (downloader, transport) = (downloader, transport)
        async let result: Void = {
            do throws(WebImageError) {
                _ = try await downloader.downloadImage(with: testURL("/a"), coder: LengthCoder())
                Issue.record("decoded")
            } catch {
                #expect(error.code == .badImageData && error.url == testURL("/a"))
            }
        }()
        await wait(while: transport.transfers.isEmpty)
        transport.transfers[0].complete([0])
        await result
    }

    @Test func `Cancelling during download or decoding ends it once`() async {
        let gate = Gate()
        let count = Lock(0)
        let isWhile = Lock<[WebImageError.Code?]>([])
        let completion: @Sendable (Result<DownloadedImage, WebImageError>) -> Void = { result in
            count.withLock { $0 += 1 }
            if case .failure(let error) = result { isWhile.withLock { $0.append(error.code) } }
        }
        let coder = LengthCoder(gate: gate)
        let first = downloader.downloadImage(
            with: testURL("/a"),
            coder: coder,
            callbackQueue: .inline,
            completion: completion
        )
        first.cancel()
        #expect(count.withLock { $0 } == 1 && first.isCancelled)
        let second = downloader.downloadImage(
            with: testURL("/b"),
            coder: coder,
            callbackQueue: .inline,
            completion: completion
        )
        transport.transfers[1].complete([1])
        await gate.arrivals()
        second.setPriority(.high)
        second.cancel()
        second.cancel()
        #expect(count.withLock { $0 } == 2 && second.isCancelled)
        gate.open()
        await onThread { CodingQueue.shared.submit {} }
        #expect(isWhile.withLock { $0 } == [.cancelled, .cancelled])
    }
}
