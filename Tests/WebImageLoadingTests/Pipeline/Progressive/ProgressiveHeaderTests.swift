import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

/// The image size reported during the download.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct ProgressiveHeaderTests {
    /// Observes headers.
    private final class Observer: WebImageLoadObserver {
        private let list = Lock<[WebImageLoadEvent]>([])
        private let headers = EventCounter()
        private let ends = EventCounter()

        func loadDid(_ event: WebImageLoadEvent) {
            list.withLock { $0.append(event) }
            if case .headerRead = event.kind { headers.signal() }
            if event.kind.isEnd { ends.signal() }
        }

        func waitForHeader() async { await headers.wait(for: 1) }
        func waitForEnd() async { await ends.wait(for: 1) }

        var words: [String] { list.withLock { $0 }.map(\.kind.words).filter { !$0.hasPrefix("queued") } }
        var told: [String] { words.filter { $0.hasPrefix("header") } }
        var properties: ImageProperties? {
            for event in list.withLock({ $0 }) {
                if case .headerRead(_, _, let properties) = event.kind { return properties }
            }
            return nil
        }
    }

    private let harness = ManagerHarness()

    private func context(_ observer: Observer?, coder: any ImageCoder = GrowingCoder()) -> WebImageContext {
        harness.context {
            $0.imageCoder = coder
            $0.observer = observer
        }
    }

    private func leave(_ load: FakeLoader.Load, _ data: Data) {
        load.request.partialData?.update(data, expectedByteCount: nil)
    }

    private func leave(_ load: FakeLoader.Load, _ text: String) { leave(load, Data(text.utf8)) }

    @Test func `The size is reported once, before the image is complete`() async throws {
        let observer = Observer()
        let (_, outcome) = harness.start(options: .progressiveLoad, context: context(observer))
        let load = await harness.loader.waitForLoads(1)[0]
        leave(load, "gr")
        leave(load, "grow1")
        await observer.waitForHeader()
        #expect(!observer.words.contains { $0.hasPrefix("downloaded") })
        leave(load, "grow123")
        load.succeed("grow12345")
        _ = try await outcome.image()
        await observer.waitForEnd()
        #expect(observer.told == ["header 4x2"])
        #expect(observer.properties?.format == .png)
    }

    @Test func `Without previews nobody requests it`() async throws {
        let observer = Observer()
        let (_, outcome) = harness.start(context: context(observer))
        await harness.loader.waitForLoads(1)[0].succeed("grow12345")
        _ = try await outcome.image()
        await observer.waitForEnd()
        #expect(observer.told.isEmpty)
    }

    @Test func `A body that arrives all at once has its size reported before it is decoded`() async throws {
        let observer = Observer()
        let (_, outcome) = harness.start(options: .progressiveLoad, context: context(observer))
        await harness.loader.waitForLoads(1)[0].succeed("grow12345")
        _ = try await outcome.image()
        await observer.waitForEnd()
        let words = observer.words
        let header = try #require(words.firstIndex { $0.hasPrefix("header") })
        let decoded = try #require(words.firstIndex { $0.hasPrefix("decoded") })
        #expect(observer.told.count == 1 && header < decoded)
    }

    @Test func `A late observer gets the size`() async throws {
        let (_, plain) = harness.start(options: .progressiveLoad, context: context(nil, coder: coder))
        let load = await harness.loader.waitForLoads(1)[0]
        leave(load, "grow1")
        let (first, second) = (Observer(), Observer())
        // Nobody observed before, so the next step reports it; after that it is kept for those who join.
        let (_, early) = harness.start(options: .progressiveLoad, context: context(first, coder: coder))
        leave(load, "grow12")
        await first.waitForHeader()
        let (_, late) = harness.start(options: .progressiveLoad, context: context(second, coder: coder))
        await second.waitForHeader()
        load.succeed("grow12345")
        for outcome in [plain, early, late] { _ = try await outcome.image() }
        await first.waitForEnd()
        await second.waitForEnd()
        #expect(first.told == ["header 4x2"] && second.told == ["header 4x2"])
        #expect(coder.log.decoderCount == 1 && harness.loader.loads.count == 1)
    }

    private let coder = GrowingCoder()

    @Test func `Metadata after the pixels may rotate the image, which is reported`() async throws {
        let observer = Observer()
        let (_, outcome) = harness.start(options: .progressiveLoad, context: context(observer))
        let load = await harness.loader.waitForLoads(1)[0]
        leave(load, "grow1")
        await observer.waitForHeader()
        load.succeed("grow12turn")
        _ = try await outcome.image()
        await observer.waitForEnd()
        #expect(observer.told == ["header 4x2", "header 2x4"])
    }

    @Test func `A restart reports the size again`() async throws {
        let observer = Observer()
        let (_, outcome) = harness.start(options: .progressiveLoad, context: context(observer))
        let load = await harness.loader.waitForLoads(1)[0]
        load.request.partialData?.begin()
        leave(load, "grow123")
        await observer.waitForHeader()
        load.request.partialData?.begin()
        leave(load, "grow1")
        load.succeed("grow12")
        _ = try await outcome.image()
        await observer.waitForEnd()
        #expect(observer.told == ["header 4x2", "header 4x2"])
    }

    @Test(arguments: [
        ("JPEG/arithmetic.jpg", 61, 45), ("JPEG/orientation-6.jpg", 45, 61), ("PNG/type6-16bit.png", 19, 17),
        ("PNG/photo-gray16.png", 120, 90), ("PNG/animated-default-image.png", 40, 30), ("PNG/orientation-6.png", 0, 0),
        ("Animation/webp-lossy-alpha-2.webp", 40, 36), ("WebP/lossy.webp", 120, 90), ("GIF/animated.gif", 0, 0),
    ])
    func `Images of all formats report it early, also those without previews`(
        name: String,
        width: Int,
        height: Int
    ) async throws {
        let data = try Fixtures.data(name)
        let final = try ImageCodersManager.shared.properties(of: data, limits: ImageLimits())
        let (_, size) = (width, final.uprightSize)
        #expect(width == 0 || (width, height) == size)
        let observer = Observer()
        var context = context(observer, coder: ImageCodersManager.shared)
        // Images of 16 bits, as half floats, have no previews.
        context.decodeOptions = ImageDecodeOptions()
        context.decodeOptions?.decodeToHDR = true
        let (_, outcome) = harness.start(options: .progressiveLoad, context: context)
        let load = await harness.loader.waitForLoads(1)[0]
        leave(load, Data(data.prefix(data.count / 2)))
        await observer.waitForHeader()
        let known = try #require(observer.properties)
        #expect(known.format == final.format && known.uprightSize == size && known.hasAlpha == final.hasAlpha)
        load.answer(.success(LoadedImageData(data: data)))
        let image = try await outcome.image()
        await observer.waitForEnd()
        #expect((image.pixelWidth, image.pixelHeight) == size)
        #expect(observer.told == ["header \(size.width)x\(size.height)"])
    }

    @Test func `A thumbnail's load reports the size of the whole image`() async throws {
        let data = try Fixtures.data("JPEG/photo.jpg")
        let observer = Observer()
        var context = context(observer, coder: ImageCodersManager.shared)
        context.thumbnailPixelSize = ImageSize(width: 48, height: 48)
        let (_, outcome) = harness.start(options: .progressiveLoad, context: context)
        let load = await harness.loader.waitForLoads(1)[0]
        leave(load, Data(data.prefix(2000)))
        await observer.waitForHeader()
        load.answer(.success(LoadedImageData(data: data)))
        #expect(try await outcome.image().pixelWidth == 48)
        await observer.waitForEnd()
        #expect(observer.told == ["header 480x360"])
    }

    @Test func `An image refused for its size reports none`() async throws {
        let data = try Fixtures.data("JPEG/photo.jpg")
        let observer = Observer()
        var context = context(observer, coder: ImageCodersManager.shared)
        context.decodeOptions = ImageDecodeOptions()
        context.decodeOptions?.limits.maximumPixelCount = 100
        let (_, outcome) = harness.start(options: .progressiveLoad, context: context)
        let load = await harness.loader.waitForLoads(1)[0]
        leave(load, Data(data.prefix(2000)))
        load.answer(.success(LoadedImageData(data: data)))
        let error = await #expect(throws: WebImageError.self) { try await outcome.image() }
        await observer.waitForEnd()
        #expect(error?.limit?.name == "maximumPixelCount" && observer.told.isEmpty)
    }
}
