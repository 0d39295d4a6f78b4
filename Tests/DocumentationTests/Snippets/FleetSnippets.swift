import FoundationEssentials
import WebImage
import WebImageFleet

enum FleetSnippets {
    static func manager() throws -> WebImageManager {
        // snippet: fleet
        let store = try RemoteImageStore(redis: "redis://cache.internal")
        let manager = WebImageManager(cache: TieredImageCache(local: ImageCache(), remote: store))
        // end
        return manager
    }
}
