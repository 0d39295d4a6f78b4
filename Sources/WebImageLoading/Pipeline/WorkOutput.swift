import FoundationEssentials

/// The output of a piece of shared work; behind a reference, because each piece of work on the way copies it several times.
indirect enum WorkOutput: Sendable {
    case diskEntry(CachedImageData?)
    case query(ImageCacheResult)
    case loaded(LoadedImageData, ByteReservation)
    case revalidated(Revalidated)
    case data(OriginalData)
    case image(PipelineImage)
    case encoded(EncodedImage)
}

typealias WorkResult = Result<WorkOutput, WebImageError>

/// A value that shared work sends before its output.
enum WorkValue: Sendable {
    /// The bytes received so far of a body.
    case partial(PartialImageData.Snapshot)
    /// An image of the bytes received so far.
    case preview(Image)
    /// An image of another size from disk, with its key.
    case variant(Image, key: String)
    /// The cache status of a stale image that is used while a newer one is requested.
    case staleStatus(CacheStatus)
    /// That stale image.
    case stale(PipelineImage)

    struct Kind: OptionSet, Sendable {
        let rawValue: UInt8

        static let partial = Kind(rawValue: 1)
        static let preview = Kind(rawValue: 2)
        static let staleStatus = Kind(rawValue: 4)
        static let stale = Kind(rawValue: 8)
        static let variant = Kind(rawValue: 16)
    }

    var kind: Kind {
        switch self {
        case .partial: .partial
        case .preview: .preview
        case .staleStatus: .staleStatus
        case .stale: .stale
        case .variant: .variant
        }
    }

    /// Receives values of some kinds.
    struct Receiver: Sendable {
        let kinds: Kind
        let body: @Sendable (WorkValue) -> Void

        static func partialData(_ body: @escaping @Sendable (PartialImageData.Snapshot) -> Void) -> Receiver {
            Receiver(kinds: .partial) { if case .partial(let snapshot) = $0 { body(snapshot) } }
        }

        static func previews(_ body: @escaping @Sendable (Image) -> Void) -> Receiver {
            Receiver(kinds: .preview) { if case .preview(let image) = $0 { body(image) } }
        }
    }
}

/// The original bytes of an image, and the task of storing them once they are verified to be an image.
struct OriginalData: Sendable {
    var entry: CachedImageData
    /// The source of the bytes: `.disk`, or `.none` for a loader.
    var source: ImageCacheType
    var loaded: LoadedImageData?
    /// Stores the bytes on disk the first time it is called; nil if they are not to be stored.
    var store: StoreOnce?
    /// The reservation for undecoded bytes, released with this value.
    var reservation: ByteReservation?
    /// True if the caches may store the bytes, and images made of them.
    var isStorable = true

    /// True if a loader generated the image, without bytes of it, or if its file is read in parts.
    var isWithoutBytes: Bool { entry.data.isEmpty && (loaded?.image != nil || byteSource != nil) }
    /// The file, if it is read in parts.
    var byteSource: (any ImageByteSource)? { loaded?.byteSource }
    /// True if the image is a frame of a video, whose bytes are not stored.
    var isVideo: Bool { loaded?.isVideo ?? ImageFormat(detecting: entry.data).isVideo }
}

extension OriginalData {
    /// Returns the data with a file of which no more parts are read once a condition is false.
    func reading(while isWanted: @escaping @Sendable () -> Bool) -> OriginalData {
        guard let source = byteSource else { return self }
        var copy = self
        copy.loaded?.byteSource = WantedByteSource(source, isWanted)
        return copy
    }
}

/// A file of which no more parts are read once they are not wanted any more; the one that is being read is cancelled.
private final class WantedByteSource: ImageByteSource {
    private let base: any ImageByteSource
    private let isWanted: @Sendable () -> Bool

    init(_ base: any ImageByteSource, _ isWanted: @escaping @Sendable () -> Bool) {
        (self.base, self.isWanted) = (base, isWanted)
    }

    var byteCount: Int { base.byteCount }
    var beginning: Data { base.beginning }
    var heldByteCount: Int { base.heldByteCount }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(WebImageError) -> Int {
        try base.read(at: offset, into: buffer, while: isWanted)
    }
}

extension LoadedImageData {
    /// True for a video. Its bytes are not stored: they are many, and the still is what is needed.
    var isVideo: Bool { byteSource != nil || ImageFormat(detecting: data).isVideo }
}

/// An image on its way to the callers.
struct PipelineImage: Sendable {
    var image: Image
    /// The encoded bytes of exactly this image; nil if it was scaled or transformed.
    var data: Data?
    /// The untransformed image at full size, while it may still have to be stored.
    var original: Image?
    var source: ImageCacheType
    var loaded: LoadedImageData?
    /// The cache key of the image, if it is not the load's: that of an untransformed image.
    var cacheKey: String?
    /// True if the caches may store it.
    var isStorable = true
    /// The cache status, if the image was revalidated.
    var status: CacheStatus?
    /// True if it equals the stale image sent before.
    var isUnchanged = false
    /// True if it was scaled from an image of another size.
    var isScaled = false
    /// True for the still of a video in high dynamic range whose URL does not say that it is a video.
    var losesRange = false
    /// Ends when everything has been written to the caches.
    var stores = StoreGroup()
}
