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

    static func managerWithBucket() throws -> WebImageManager {
        // snippet: fleet-bucket
        let bucket = try RemoteImageStore(s3: "s3://images/cache?region=eu-central-1")
        let manager = WebImageManager(cache: TieredImageCache(local: ImageCache(), remote: bucket))
        // end
        return manager
    }

    static func certificates() throws -> RemoteImageStore {
        // snippet: fleet-tls
        let certificates = RemoteStoreCertificates(
            authorityFile: "/etc/webimage/ca.pem",
            certificateFile: "/etc/webimage/client.pem",
            keyFile: "/etc/webimage/client.key"
        )
        let store = try RemoteImageStore(redis: "rediss://cache.internal", certificates: certificates)
        // end
        return store
    }

    static func secret(_ secret: Data) throws -> RemoteImageStore {
        // snippet: fleet-secret
        let store = try RemoteImageStore(redis: "rediss://cache.internal").sealed(with: [secret])
        // end
        return store
    }
}
