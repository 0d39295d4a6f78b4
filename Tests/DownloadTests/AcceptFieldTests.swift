import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs
@testable import WebImageModel

/// The Accept field of requests.
@Suite(.tags(.addressSanitizer)) struct AcceptFieldTests {
    /// Decodes one kind of data and counts how often it is asked.
    private final class CountingCoder: ImageCoder {
        let start: Data
        private let count = Counter()

        init(_ format: ImageFormat) {
            start = AcceptField.samples.first { $0.format == format }?.start ?? Data()
        }

        var questions: Int { count.value }

        func canDecode(_ data: Data) -> Bool {
            count.add()
            return data == start
        }

        func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
            throw WebImageError(.badImageData, "")
        }

        func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
            throw WebImageError(.badImageData, "")
        }

        func canEncode(to format: ImageFormat) -> Bool { false }

        func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data {
            throw WebImageError(.encodingFailed, "")
        }
    }

    private static let builtIn =
        "image/webp,image/png,image/jpeg,image/gif,image/bmp,image/vnd.microsoft.icon,*/*;q=0.1"

    @Test func `Every sample is of its format, and each format has one`() {
        for (format, start) in AcceptField.samples { #expect(ImageFormat(detecting: start) == format) }
        #expect(Set(AcceptField.samples.map(\.format)).count == 13)
        #expect(AcceptField.samples.allSatisfy { $0.format.mimeType.contains("/") && $0.start.count <= 64 })
    }

    @Test func `The Accept field has the built-in coders' formats, the most efficient first`() {
        #expect(ImageCodersManager().accept.value == Self.builtIn)
        #expect(ImageCodersManager(coders: []).accept.value == "*/*;q=0.1")
        #expect(
            AcceptField.value { _ in true }
                == "image/avif,image/jxl,image/webp,image/heic,image/heif,image/svg+xml,image/png,image/jpeg,image/gif,"
                + "image/tiff,image/bmp,image/vnd.microsoft.icon,application/pdf,*/*;q=0.1"
        )
    }

    @Test func `Formats are added and removed with their coders`() {
        let manager = ImageCodersManager()
        let before = manager.accept
        let avif = CountingCoder(.avif)
        manager.add(avif)
        #expect(manager.accept.value == "image/avif," + Self.builtIn && manager.accept.generation > before.generation)
        manager.remove(avif)
        #expect(manager.accept.value == Self.builtIn)
        manager.coders = [CountingCoder(.svg), PNGCoder()]
        #expect(manager.accept.value == "image/svg+xml,image/png,*/*;q=0.1")
        manager.addMissing([GIFCoder(), PNGCoder()])
        #expect(manager.accept.value == "image/svg+xml,image/png,image/gif,*/*;q=0.1")
    }

    @Test func `Coders are asked again only when one was added or removed`() {
        let coder = CountingCoder(.jpegXL)
        let manager = ImageCodersManager(coders: [coder])
        let first = manager.accept
        let questions = coder.questions
        #expect(questions == 13)
        for _ in 0..<100 { #expect(manager.accept == first) }
        #expect(coder.questions == questions)
        manager.add(PNGCoder())
        #expect(manager.accept.value == "image/jxl,image/png,*/*;q=0.1" && coder.questions == 26)
    }

    // MARK: Downloads, in separate processes: all tests share the shared coders.

    private func sent(_ harness: RetryHarness, _ headers: HTTPHeaders = [:]) -> String? {
        harness.downloader.start(testURL("/\(harness.starts)"), Recorder(), headers: headers)
        return harness.transport.transfers.last?.request.headers["Accept"]
    }

    @Test func `A downloader accepts what the shared coders decode, and the user's own field wins`() async {
        await #expect(processExitsWith: .success) {
            let suite = AcceptFieldTests()
            let harness = RetryHarness(.never, maxConcurrentDownloads: 100)
            let coder = CountingCoder(.pdf)
            ImageCodersManager.shared.add(coder)
            #expect(suite.sent(harness)?.contains("application/pdf,") == true)
            #expect(harness.downloader.value(forHTTPHeaderField: "ACCEPT")?.contains("application/pdf,") == true)
            ImageCodersManager.shared.remove(coder)
            #expect(suite.sent(harness)?.contains("application/pdf,") == false)
            #expect(suite.sent(harness, ["accept": "image/png"]) == "image/png", "a load's own field wins")
            harness.downloader.setValue("image/*", forHTTPHeaderField: "accept")
            ImageCodersManager.shared.add(coder)
            #expect(
                suite.sent(harness) == "image/*" && harness.downloader.value(forHTTPHeaderField: "Accept") == "image/*"
            )
            harness.downloader.setValue(nil, forHTTPHeaderField: "Accept")
            #expect(suite.sent(harness) == nil)
            ImageCodersManager.shared.remove(coder)
            #expect(suite.sent(harness) == nil && suite.sent(harness, ["Accept": "a/b"]) == "a/b")
        }
    }

    @Test func `The reported fields are those that would be sent, before any download`() async {
        await #expect(processExitsWith: .success) {
            let downloader = RetryHarness(.never).downloader
            func told() -> String? { downloader.requestHeaders(for: ImageLoadRequest(url: testURL("/a")))["Accept"] }
            #expect(told()?.contains("image/heif,") == false)
            let coder = CountingCoder(.heif)
            ImageCodersManager.shared.add(coder)
            #expect(told()?.contains("image/heif,") == true)
            ImageCodersManager.shared.remove(coder)
            #expect(told()?.contains("image/heif,") == false)
            downloader.setValue("image/*", forHTTPHeaderField: "Accept")
            #expect(told() == "image/*")
        }
    }

    @Test func `Callers share a download although a coder is added between them`() async {
        await #expect(processExitsWith: .success) {
            let harness = RetryHarness(.never)
            let (first, second) = (Recorder(), Recorder())
            harness.downloader.start(testURL("/a"), first)
            let coder = CountingCoder(.pdf)
            ImageCodersManager.shared.add(coder)
            harness.downloader.start(testURL("/a"), second)
            ImageCodersManager.shared.remove(coder)
            #expect(harness.starts == 1)
            harness.transport.transfers[0].complete([1])
            #expect(first.data == Data([1]) && second.data == Data([1]))
        }
    }
}
