import FoundationEssentials
import ModelTestSupport
import Testing
import WebImageLoading

/// Process-wide settings, in a separate process. The shared manager takes the defaults when it is first used, which
/// must not happen while they are set.
@Suite struct DefaultsTests {
    @Test func `Managers made later use the defaults`() async {
        await #expect(processExitsWith: .success) {
            _ = WebImageManager.shared
            let (cache, loader) = (FakeCache(), FakeLoader())
            let before = WebImageManager()
            WebImageManager.defaultImageCache = cache
            WebImageManager.defaultImageLoader = loader
            defer {
                WebImageManager.defaultImageCache = nil
                WebImageManager.defaultImageLoader = nil
            }
            let manager = WebImageManager()
            #expect(manager.imageCache === cache && manager.imageLoader === loader)
            #expect(WebImageManager.defaultImageCache === cache && WebImageManager.defaultImageLoader === loader)
            #expect(before.imageCache === ImageCache.shared && before.imageLoader === ImageLoadersManager.shared)
            let own = FakeCache()
            #expect(
                WebImageManager(cache: own).imageCache === own && WebImageManager(cache: own).imageLoader === loader
            )
            let ownLoader = FakeLoader()
            #expect(WebImageManager(loader: ownLoader).imageLoader === ownLoader)
        }
    }

    @Test func `Removing the defaults restores the shared instances`() async {
        await #expect(processExitsWith: .success) {
            _ = WebImageManager.shared
            WebImageManager.defaultImageCache = FakeCache()
            WebImageManager.defaultImageCache = nil
            #expect(WebImageManager().imageCache === ImageCache.shared)
            #expect(WebImageManager().imageLoader === ImageLoadersManager.shared)
        }
    }
}
