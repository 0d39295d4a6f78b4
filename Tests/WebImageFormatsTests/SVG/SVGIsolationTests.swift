import FoundationEssentials
import TestSupport
import Testing
import WebImage
import WebImageFormats
import WebImageSVG

/// SVG in workers, as registered by default: the cost of hostile documents.
@Suite(
    .enabled(
        if: DecoderProgram.isSupported,
        "this system does not confine processes, or this is a sanitized build"
    ),
    .timeLimit(.minutes(4))
)
struct SVGIsolationTests {
    private static func coder(seconds: Double) -> IsolatedImageCoder {
        var isolation = DecodeIsolation(formats: [.svg])
        (isolation.workerPath, isolation.maximumDecodeDuration) = (DecoderProgram.path, seconds)
        return IsolatedImageCoder(isolation, base: SVGCoder())
    }

    private static let good = SVGDrawings.document("<rect width='20' height='20' fill='red'/>", size: 20)

    /// Returns the result of a decode, and checks that another document can be decoded then.
    private static func outcome(_ data: Data, seconds: Double) async throws -> Result<Image, WebImageError> {
        let start = ContinuousClock.now
        let outcome: Result<Image, WebImageError>
        do throws(WebImageError) {
            outcome = .success(try await Image.decode(data, coder: coder(seconds: seconds)))
        } catch { outcome = .failure(error) }
        // A start takes long on a busy machine, and a worker that has decoded other documents is replaced once.
        #expect(ContinuousClock.now - start < .seconds(2 * seconds + 60))
        #expect(try await Image.decode(good, coder: coder(seconds: 60)).bitmap.premultipliedRGBA(x: 9, y: 9)[0] == 255)
        return outcome
    }

    @Test(arguments: SVGDrawings.endless.keys.sorted())
    func `A document that cannot be drawn is an error within the time limit`(name: String) async throws {
        let data = try #require(SVGDrawings.endless[name])
        guard case .failure(let error) = try await Self.outcome(data, seconds: 0.5) else {
            Issue.record("it was drawn")
            return
        }
        let codes: [WebImageError.Code] = [
            .decodeTimedOut, .badImageData, .limitExceeded, .outOfMemory, .decoderCrashed,
        ]
        #expect(codes.contains(error.code), "\(error)")
    }

    @Test(arguments: SVGDrawings.heavy.keys.sorted())
    func `A document that takes long is drawn, or is an error within the time limit`(name: String) async throws {
        _ = try await Self.outcome(try #require(SVGDrawings.heavy[name]), seconds: 0.5)
    }

    @Test(arguments: SVGDrawings.usual.keys.sorted())
    func `A big document of a usual kind is drawn`(name: String) async throws {
        let data = try #require(SVGDrawings.usual[name])
        #expect(try await Self.outcome(data, seconds: 60).get().pixelWidth == 500)
    }

    @Test func `The remaining time of the limits ends a drawing, too`() async throws {
        var options = ImageDecodeOptions()
        options.limits.maximumDecodeDuration = 0.5
        let data = try #require(SVGDrawings.endless["filters by uses"])
        let error = await #expect(throws: WebImageError.self) {
            try await Image.decode(data, options: options, coder: Self.coder(seconds: 100))
        }
        #expect(error?.code == .decodeTimedOut && error?.message.contains("0.5 s") == true)
    }

    @Test func `A load of a hostile document is an error with the URL, in the default time limit`() async throws {
        let coders = ImageCodersManager()
        WebImageFormats.registerAll(in: coders)
        let data = try #require(SVGDrawings.endless["filters by uses"])
        let url = try #require(URL(string: "data:image/svg+xml;base64,\(data.base64EncodedString())"))
        var context = WebImageContext()
        context.imageCoder = coders
        let directory = TemporaryDirectory()
        let manager = WebImageManager(
            cache: ImageCache(directory: directory.path),
            loader: DataURLImageLoader.shared
        )
        let error = await #expect(throws: WebImageError.self) { try await manager.image(with: url, context: context) }
        #expect(error?.code == .decodeTimedOut && error?.url == url)
        #expect(error?.message.contains("\(DecodeIsolation().maximumDecodeDuration) s") == true)
    }

    @Test func `Registered SVG is drawn in a worker, with the pixels of this process`() async throws {
        let coders = ImageCodersManager()
        WebImageFormats.registerAll(in: coders)
        let data = try Fixtures.data("SVG/shapes.svg")
        let (theirs, ours) = (
            try await Image.decode(data, coder: coders), try SVGCoder.inProcess.decode(data, options: .init())
        )
        #expect(theirs.premultipliedPixels == ours.premultipliedPixels && theirs.metadata == ours.metadata)
        #expect(
            try await ImageProperties.read(from: data, coder: coders)
                == SVGCoder.inProcess.properties(of: data, limits: .init())
        )
        // It waits for the worker on dedicated threads; nothing else does.
        #expect(CodingQueue.queue(of: coders, for: data) !== CodingQueue.shared)
        #expect(try CodingQueue.queue(of: coders, for: Fixtures.data("TIFF/photo-lzw.tiff")) === CodingQueue.shared)
        #expect(!coders.canDecodeIncrementally(data))
    }
}

/// Drawing of SVG in a program without a worker.
@Suite struct SVGPlaceTests {
    private let data = SVGDrawings.document("<rect width='20' height='20'/>", size: 20)

    private func errors(_ coder: SVGCoder, _ data: Data) -> [WebImageError?] {
        let calls: [() throws -> Void] = [
            { _ = try coder.decode(data, options: ImageDecodeOptions()) },
            { _ = try coder.properties(of: data, limits: ImageLimits()) },
            { _ = try coder.memoryNeed(of: data, options: ImageDecodeOptions()) },
        ]
        return calls.map { call in
            do { try call() } catch { return error as? WebImageError }
            return nil
        }
    }

    @Test func `A coder draws in this process only if allowed, and within the allowed length`() {
        let refused = errors(SVGCoder(), data)
        #expect(refused.map { $0?.code } == [.decoderUnavailable, .decoderUnavailable, .decoderUnavailable])
        #expect(refused[0]?.message.contains("SVGCoder(maximumInProcessByteCount:)") == true)
        #expect(SVGCoder().canDecode(data))
        #expect(errors(SVGCoder(maximumInProcessByteCount: data.count), data).allSatisfy { $0 == nil })
        for error in errors(SVGCoder(maximumInProcessByteCount: data.count - 1), data) {
            #expect(error?.limit?.name == "maximumInProcessByteCount")
            #expect(error?.limit?.allowed == Int64(data.count - 1) && error?.limit?.required == Int64(data.count))
        }
    }

    @Test func `Without a worker a load is an error with a hint`() async throws {
        var isolation = DecodeIsolation(formats: [.svg])
        isolation.workerPath = "/nonexistent/decoder"
        let coder = IsolatedImageCoder(isolation, base: SVGCoder(), advice: "do otherwise")
        let url = try #require(URL(string: "data:image/svg+xml;base64,\(data.base64EncodedString())"))
        var context = WebImageContext()
        context.imageCoder = ImageCodersManager(coders: ImageCodersManager.builtIn + [coder])
        let directory = TemporaryDirectory()
        let manager = WebImageManager(
            cache: ImageCache(directory: directory.path),
            loader: DataURLImageLoader.shared
        )
        let error = await #expect(throws: WebImageError.self) { try await manager.image(with: url, context: context) }
        #expect(error?.code == .decoderUnavailable && error?.url == url)
        #expect(
            error?.message.contains("/nonexistent/decoder") == true
                && error?.message.hasSuffix("; do otherwise") == true
        )
    }

    @Test(arguments: [true, false])
    func `A coder that draws in this process does so whether it is registered before the others or after`(isFirst: Bool)
        throws
    {
        let manager = ImageCodersManager()
        if isFirst { manager.add(SVGCoder.inProcess) }
        WebImageFormats.registerAll(in: manager)
        if !isFirst { manager.add(SVGCoder.inProcess) }
        #expect(manager.coders.count { $0.canDecode(data) } == (isFirst ? 1 : 2))
        #expect(CodingQueue.queue(of: manager, for: data) === CodingQueue.shared)
        #expect(try manager.decode(data, options: ImageDecodeOptions()).pixelWidth == 20)
    }
}
