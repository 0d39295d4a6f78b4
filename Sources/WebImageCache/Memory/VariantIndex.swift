/// An image in a memory cache that was made from an original, in one of several sizes.
package struct ImageVariant: Sendable {
    /// Everything that determines the pixels of an image besides its source and its size. Images of the same kind differ only in size.
    package final class Kind: Sendable, Hashable {
        /// The decode options, with the defaults in place of those that only affect the size or how the image is delivered.
        package let options: ImageDecodeOptions
        /// The key of the transformers; empty for none.
        let transformerKey: String
        private let identity: CoderIdentity
        /// Retained: the identity of an object is valid only as long as the object exists.
        private let coder: any ImageCoder

        package init(_ options: ImageDecodeOptions, coder: any ImageCoder, transformerKey: String) {
            var options = options
            let defaults = ImageDecodeOptions()
            options.thumbnailPixelSize = defaults.thumbnailPixelSize
            options.preserveAspectRatio = defaults.preserveAspectRatio
            options.thumbnailCovers = defaults.thumbnailCovers
            options.scaleDownLimitBytes = defaults.scaleDownLimitBytes
            // Limits only refuse images, and each load checks its own. Except that a color profile above its limit is ignored.
            let maximumColorProfileByteCount = options.limits.maximumColorProfileByteCount
            options.limits = defaults.limits
            options.limits.maximumColorProfileByteCount = maximumColorProfileByteCount
            // Animations and damaged images have no variants, so these make no difference.
            options.decodeFirstFrameOnly = defaults.decodeFirstFrameOnly
            options.preloadsAllFrames = defaults.preloadsAllFrames
            options.requiresAnimation = defaults.requiresAnimation
            options.refusesDamagedData = defaults.refusesDamagedData
            // Transformers work in points.
            if transformerKey.isEmpty { options.scaleFactor = defaults.scaleFactor }
            self.options = options
            self.transformerKey = transformerKey
            self.coder = coder
            identity = CoderIdentity(coder)
        }

        package static func == (left: Kind, right: Kind) -> Bool {
            left === right
                || left.identity == right.identity && left.transformerKey == right.transformerKey
                    && left.options == right.options
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(identity)
            hasher.combine(transformerKey)
            hasher.combine(options)
        }
    }

    /// The key of the image in the memory cache.
    package let key: String
    /// The width in pixels.
    package let width: Int
    /// The height in pixels.
    package let height: Int
    /// The width of the upright original in pixels.
    package let sourceWidth: Int
    /// The height of the upright original in pixels.
    package let sourceHeight: Int
    /// The XXH3 of the original's bytes, never 0.
    package let sourceHash: UInt64
    /// Everything else that determines the pixels.
    package internal(set) var kind: Kind
    /// True if it is only the first frame of an animation.
    package let isFirstFrame: Bool
    /// True if it was made from the original by decoding and transforming, so that it can be scaled down once. False if it was itself
    /// scaled down, or read from a file that may be lossy: then it is only good enough for a preview.
    package let isExact: Bool

    package init(
        key: String,
        size: (width: Int, height: Int),
        sourceSize: (width: Int, height: Int),
        sourceHash: UInt64,
        kind: Kind,
        isFirstFrame: Bool = false,
        isExact: Bool = true
    ) {
        self.key = key
        (width, height) = size
        (self.sourceWidth, self.sourceHeight) = sourceSize
        self.sourceHash = sourceHash
        self.kind = kind
        self.isFirstFrame = isFirstFrame
        self.isExact = isExact
    }

    var pixelCount: Int { width * height }
}

/// The variants of originals in a memory cache: which sizes of an image there are, by the original's key.
///
/// The index does not hold images, and it is not notified of evictions: a variant may be in the memory cache no longer. Of each original,
/// only variants made of the same bytes are known, those noted last. Bounded: the least recently used originals are forgotten. All
/// operations are O(1), except that the variants of one original are searched.
package struct VariantIndex {
    /// The maximum number of originals: takes about 1 MB if each has two variants.
    static let capacity = 4096
    /// The maximum number of variants of one original.
    static let mostVariants = 16

    private struct Entry {
        var key: String
        /// In ascending order of their sizes.
        var variants: [ImageVariant]
    }

    private let capacity: Int
    private var index: [String: UInt32] = [:]
    /// The LRU list, by entry number.
    private var slab = EvictionSlab(seed: 1)
    private var entries: [Entry?] = [nil]
    /// The kind of the latest variant: most images of a program are of one kind, which is stored once.
    private var latestKind: ImageVariant.Kind?
    private var removed = Removed()

    /// The removed variants and kinds. Kinds retain coders, and a coder of the program may use the cache when it ends, so they must not be released while
    /// a lock is held.
    package struct Removed: Sendable {
        fileprivate var variants: [[ImageVariant]] = []
        fileprivate var kinds: [ImageVariant.Kind] = []
    }

    package init(capacity: Int? = nil) { self.capacity = max(capacity ?? Self.capacity, 1) }

    /// The number of originals.
    package var count: Int { index.count }

    /// Returns what was removed since the last call, to be released after the lock.
    package mutating func takeRemoved() -> Removed {
        defer { removed = Removed() }
        return removed
    }

    /// Returns the variants of an original, in ascending order of their sizes.
    package mutating func variants(of original: String) -> [ImageVariant] {
        guard let id = index[original] else { return [] }
        slab.touch(id, frequency: 0, epoch: 0)
        return entries[Int(id)]?.variants ?? []
    }

    /// Adds a variant. Those with its key, and those made of other bytes, are removed.
    package mutating func add(_ variant: ImageVariant, of original: String) {
        let variant = sharingKind(variant)
        let id = index[original] ?? slab.insert(hash: 0, cost: 0, frequency: 0, epoch: 0)
        index[original] = id
        if Int(id) == entries.count { entries.append(nil) }
        slab.touch(id, frequency: 0, epoch: 0)
        var variants = entries[Int(id)]?.variants ?? []
        if !variants.isEmpty { removed.variants.append(variants) }
        variants.removeAll { $0.key == variant.key || $0.sourceHash != variant.sourceHash }
        // Of two images of the same size, the one noted last is found first.
        let place = variants.firstIndex { $0.pixelCount >= variant.pixelCount } ?? variants.count
        variants.insert(variant, at: place)
        // Larger ones are useful for more sizes.
        if variants.count > Self.mostVariants { variants.remove(at: place == 0 ? 1 : 0) }
        entries[Int(id)] = Entry(key: original, variants: variants)
        if index.count > capacity, let oldest = slab.oldest { remove(oldest) }
    }

    /// Removes a variant, which is in the memory cache no longer.
    package mutating func remove(_ key: String, of original: String) {
        guard let id = index[original], let variants = entries[Int(id)]?.variants else { return }
        removed.variants.append(variants)
        entries[Int(id)]?.variants.removeAll { $0.key == key }
        if entries[Int(id)]?.variants.isEmpty != false { remove(id) }
    }

    /// Removes all variants of an original.
    mutating func removeAll(of original: String) {
        if let id = index[original] { remove(id) }
    }

    /// Removes everything and frees the memory.
    mutating func removeAll() {
        var removed = removed
        removed.variants += entries.compactMap { $0?.variants }
        if let latestKind { removed.kinds.append(latestKind) }
        self = VariantIndex(capacity: capacity)
        self.removed = removed
    }

    private mutating func remove(_ id: UInt32) {
        slab.remove(id)
        if let entry = entries[Int(id)] {
            index[entry.key] = nil
            removed.variants.append(entry.variants)
        }
        entries[Int(id)] = nil
    }

    private mutating func sharingKind(_ variant: ImageVariant) -> ImageVariant {
        var variant = variant
        if let latestKind {
            if latestKind == variant.kind {
                variant.kind = latestKind
                return variant
            }
            removed.kinds.append(latestKind)
        }
        latestKind = variant.kind
        return variant
    }
}

extension ImageCache {
    /// The maximum number of bytes of an original's key. The key of a data URL is as long as the image, and the index is not bounded by the
    /// memory limit of the cache.
    static let longestIndexedKey = 2048

    /// Changes the index of variants. What is removed from it is released after the lock.
    func changeVariants(_ body: (inout VariantIndex) -> Void) {
        let removed = variants.withLock { index in
            body(&index)
            return index.takeRemoved()
        }
        withExtendedLifetime(removed) {}
    }

    /// Returns the variants of an original that may be in memory, in ascending order of their sizes.
    package func variants(of original: String) -> [ImageVariant] { variants.withLock { $0.variants(of: original) } }

    /// Returns the image of a variant of an original if it is in memory; otherwise forgets the variant. Does not count as a use of the
    /// image: loads of a small size must not keep a large image in memory.
    package func image(of variant: ImageVariant, of original: String) -> Image? {
        let image =
            if let cache = memoryCache as? MemoryCache {
                cache.unusedImage(forKey: variant.key)
            } else {
                memoryCache.image(forKey: variant.key)
            }
        guard let image, image.pixelWidth == variant.width, image.pixelHeight == variant.height,
            image.metadata.sourceHash == variant.sourceHash
        else {
            changeVariants { $0.remove(variant.key, of: original) }
            return nil
        }
        return image
    }

    /// Notes that an image has been stored in memory. Images with very long keys are not noted.
    package func note(_ variant: ImageVariant, of original: String) {
        guard original.utf8.count <= Self.longestIndexedKey, variant.key.utf8.count <= 2 * Self.longestIndexedKey else {
            return
        }
        changeVariants { $0.add(variant, of: original) }
    }
}
