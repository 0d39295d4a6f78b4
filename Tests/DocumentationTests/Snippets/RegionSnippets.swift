import FoundationEssentials
import WebImage

enum RegionSnippets {
    static func read() async throws {
        // snippet: region reader
        let reader = try await ImageCodersManager.shared.regionReader(forFileAt: "/srv/maps/world.jpg")
        let overview = try await reader.tile(column: 0, row: 0, level: reader.levels.count - 1)
        show(overview)
        let level = reader.level(forScale: 0.25)
        let detail = try await reader.read(ImageRect(x: 4096, y: 2048, width: 800, height: 600), level: level)
        show(detail)
        // end
    }

    static func cache() async throws -> any RegionReader {
        // snippet: pyramid cache
        var options = RegionOptions()
        options.pyramids = PyramidCache(directory: "/var/cache/viewer", maximumByteCount: 4 << 30)
        let scan = try await ImageCodersManager.shared.regionReader(forFileAt: "/srv/scans/page.png", options: options)
        // end
        return scan
    }
}
