import FoundationEssentials
import WebImage

extension MemoryCacheBench {
    /// Loads of images in memory through a manager, with images of other sizes used (`SizeReuse`) and without: what a hit takes.
    static func measureLoads(_ size: Int) {
        let cache = ImageCache(namespace: "load-hit", directory: "/nonexistent", coder: nil)
        let urls = (0..<size).compactMap { URL(string: "https://pictures.example.com/photo-\($0).jpg") }
        for (url, image) in zip(urls, tinyImages(size)) { cache.storeToMemory(image, forKey: url.absoluteString) }
        let managers = [SizeReuse.none, .memory].map { reuse in
            let manager = WebImageManager(cache: cache)
            manager.sizeReuse = reuse
            return manager
        }
        var context = WebImageContext()
        context.callbackQueue = .inline
        var best = [Double.infinity, .infinity]
        for _ in 0..<shortRounds {
            for (number, manager) in managers.enumerated() {
                let nanoseconds = Self.time {
                    for url in urls { manager.loadImage(with: url, context: context) { _ in } }
                }
                best[number] = min(best[number], nanoseconds * Double(lookups) / Double(size))
            }
        }
        print("load-memory-hit", median([best[0]]), "ns", separator: "\t")
        print("load-memory-hit-size-reuse", median([best[1]]), "ns", separator: "\t")
    }
}
