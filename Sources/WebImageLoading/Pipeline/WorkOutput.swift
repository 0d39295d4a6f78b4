import FoundationEssentials

/// What a piece of shared work ends with.
enum WorkOutput: Sendable {
    case diskEntry(CachedImageData?)
    case query(ImageCacheResult)
    case loaded(LoadedImageData, ByteReservation)
    case revalidated(Revalidated)
    case data(OriginalData)
    case image(PipelineImage)
}

typealias WorkResult = Result<WorkOutput, WebImageError>

/// A value that shared work sends before its output.
enum WorkValue: Sendable {
    /// Bytes of a body that is still arriving.
    case partial(PartialImageData.Snapshot)
    /// An image of a body that is still arriving.
    case preview(Image)
    /// How something cached stands that serves while a newer one is asked for.
    case staleStatus(CacheStatus)
    /// The image of it.
    case stale(PipelineImage)

    struct Kind: OptionSet, Sendable {
        let rawValue: UInt8

        static let partial = Kind(rawValue: 1)
        static let preview = Kind(rawValue: 2)
        static let staleStatus = Kind(rawValue: 4)
        static let stale = Kind(rawValue: 8)
    }

    var kind: Kind {
        switch self {
        case .partial: .partial
        case .preview: .preview
        case .staleStatus: .staleStatus
        case .stale: .stale
        }
    }

    /// Takes values of some kinds.
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

/// The original bytes of a picture, and the duty to store them once they have proved to be a picture.
struct OriginalData: Sendable {
    var entry: CachedImageData
    /// Where the bytes came from: `.disk`, or `.none` for a loader.
    var source: ImageCacheType
    var loaded: LoadedImageData?
    /// Stores the bytes on disk the first time it is called; nil when they are not to be stored.
    var store: StoreOnce?
    /// Counts the bytes against the pipeline's bound on undecoded data as long as it lives.
    var reservation: ByteReservation?
    /// Whether the caches may keep it, and what is made of it.
    var isStorable = true

    /// Whether a loader made the picture, and has no bytes of it.
    var isWithoutBytes: Bool { entry.data.isEmpty && loaded?.image != nil }
}

/// An image on its way to the callers.
struct PipelineImage: Sendable {
    var image: Image
    /// The encoded bytes of just this image; nil for one that was scaled or transformed.
    var data: Data?
    /// The untransformed picture at full size, as long as it may still have to be stored.
    var original: Image?
    var source: ImageCacheType
    var loaded: LoadedImageData?
    /// The key that the image lies under, where that is another than the load's: that of an image that was not transformed.
    var cacheKey: String?
    /// Whether the caches may keep it.
    var isStorable = true
    /// How far it serves, if what is cached was judged.
    var status: CacheStatus?
    /// Whether it is what was sent before as stale.
    var isUnchanged = false
    /// Ends when everything has been written to the caches.
    var stores = StoreGroup()
}
