import FoundationEssentials
import TestSupport
import Testing
import WebImage
import WebImageFormats
import WebImagePDF
import WebImageVideo

/// Formats that separate programs decode, in a program that does not find them.
@Suite(.tags(.addressSanitizer)) struct SeparateProgramTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let program: String
        let coder: any ImageCoder
        let formats: Set<ImageFormat>
        let data: @Sendable () throws -> Data
        let other: Data
        let setPath: @Sendable (inout DecodeIsolation, String) -> Void

        var testDescription: String { program }
    }

    static let kinds = [
        Kind(
            program: "webimage-decoder-video",
            coder: VideoCoder(),
            formats: ImageFormat.videos,
            data: { try Fixtures.data("Video/h264.mp4") },
            other: Data("ftyp".utf8),
            setPath: { $0.videoWorkerPath = $1 }
        ),
        Kind(
            program: "webimage-decoder-pdf",
            coder: PDFCoder(),
            formats: [.pdf],
            data: { PDFHarness.good },
            other: Data("PDF".utf8),
            setPath: { $0.pdfWorkerPath = $1 }
        ),
    ]

    @Test(arguments: kinds)
    func `Without the program each file is an error that says how to get it`(kind: Kind) async throws {
        var isolation = DecodeIsolation(formats: kind.formats)
        kind.setPath(&isolation, "/nonexistent/\(kind.program)")
        let (coder, data) = (IsolatedImageCoder(isolation, base: kind.coder), try kind.data())
        let error = await #expect(throws: WebImageError.self) { try await Image.decode(data, coder: coder) }
        #expect(error?.code == .decoderUnavailable && error?.message.contains("/nonexistent") == true)
    }

    @Test(arguments: kinds)
    func `The coder decodes and encodes nothing itself`(kind: Kind) throws {
        let (coder, data) = (kind.coder, try kind.data())
        #expect(coder.canDecode(data) && !coder.canDecode(kind.other))
        #expect(kind.formats.allSatisfy { !coder.canEncode(to: $0) })
        let calls: [() throws -> Void] = [
            { _ = try coder.decode(data, options: ImageDecodeOptions()) },
            { _ = try coder.properties(of: data, limits: ImageLimits()) },
            { _ = try coder.memoryNeed(of: data, options: ImageDecodeOptions()) },
        ]
        for call in calls {
            let error = #expect(throws: WebImageError.self) { try call() }
            #expect(error?.code == .decoderUnavailable && error?.message.contains(kind.program) == true)
        }
        let image = Image(bitmap: try .allocate(width: 1, height: 1, pixelFormat: .rgb8))
        let format = try #require(kind.formats.first)
        let error = #expect(throws: WebImageError.self) {
            try coder.encode(image, to: format, options: ImageEncodeOptions())
        }
        #expect(error?.code == .unsupportedFormat)
    }

    @Test(arguments: kinds)
    func `The formats are registered, and wait for workers on threads of their own`(kind: Kind) throws {
        let (coders, data) = (ImageCodersManager(), try kind.data())
        WebImageFormats.registerAll(in: coders)
        #expect(coders.canDecode(data) && !coders.canDecodeIncrementally(data))
        #expect(CodingQueue.queue(of: coders, for: data) !== CodingQueue.shared)
        #expect(DecodeIsolation.riskyFormats.isSuperset(of: kind.formats))
    }
}
