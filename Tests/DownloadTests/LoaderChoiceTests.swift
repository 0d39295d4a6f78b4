import FoundationEssentials
import LoadingTestSupport
import Testing
import WebImage

@testable import WebImageHTTP

private enum Album: OptionKey { static let defaultValue = "" }

/// Serves loads of one album, whatever their URL.
private final class AlbumLoader: ImageLoading {
    let album: String
    private let counter = Lock(0)
    var count: Int { counter.withLock { $0 } }

    init(_ album: String) { self.album = album }

    func canLoad(_ url: URL, options: WebImageOptions) -> Bool { true }
    func canLoad(_ request: ImageLoadRequest) -> Bool { request.loadValues[Album.self] == album }
    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { false }

    func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        counter.withLock { $0 += 1 }
        completion(.success(LoadedImageData(data: Data(album.utf8))))
        return FinishedLoadOperation()
    }
}

@Suite(.timeLimit(.minutes(1))) struct LoaderChoiceTests {
    @Test func `A loader may inspect the whole request before it takes it`() async throws {
        let harness = ManagerHarness.answering()
        let (first, second) = (AlbumLoader("first"), AlbumLoader("second"))
        let loaders = ImageLoadersManager(loaders: [first, second])
        func context(_ album: String) -> WebImageContext {
            harness.context {
                $0.imageLoader = loaders
                $0.loadValues[Album.self] = album
            }
        }
        for album in ["first", "second"] {
            let result = try await harness.start(options: .fromLoaderOnly, context: context(album)).outcome.value()
                .get()
            #expect(result.data == Data(album.utf8))
        }
        #expect(first.count == 1 && second.count == 1)
        let refused = await harness.start(options: .fromLoaderOnly, context: context("third")).outcome.error()
        #expect(refused?.code == .invalidURL && first.count == 1 && second.count == 1)
        #expect(!loaders.canLoad(harness.url, options: []))
        var request = ImageLoadRequest(url: harness.url)
        request.loadValues[Album.self] = "first"
        #expect(loaders.canLoad(request))
        // A loader that does not take the request does not refresh cached images.
        let refreshed = Outcome()
        harness.manager.loadImage(with: harness.url, options: .refreshCached, context: context("third")) {
            refreshed.record($0)
        }
        #expect(try await refreshed.value().get().isFinal)
    }

    @Test func `A loader without a check of requests is asked about the URL`() {
        let loader = FakeServer("picture")
        #expect(loader.canLoad(ImageLoadRequest(url: URL(filePath: "/p"))))
        loader.edit { $0.serves = false }
        #expect(!loader.canLoad(ImageLoadRequest(url: URL(filePath: "/p"))))
    }

    @Test func `The shared loaders are one object, with the built-in ones`() {
        #expect(ImageLoadersManager.shared === ImageLoadersManager.shared)
        #expect(
            ImageLoadersManager.builtIn.map(ObjectIdentifier.init) == [
                ObjectIdentifier(DataURLImageLoader.shared), ObjectIdentifier(FileImageLoader.shared),
                ObjectIdentifier(WebImageDownloader.shared),
            ]
        )
        let manager = ImageLoadersManager()
        #expect(manager.loaders.map(ObjectIdentifier.init) == ImageLoadersManager.builtIn.map(ObjectIdentifier.init))
        manager.loaders = []
        #expect(manager.loaders.isEmpty && !manager.canLoad(URL(filePath: "/p"), options: []))
    }
}
