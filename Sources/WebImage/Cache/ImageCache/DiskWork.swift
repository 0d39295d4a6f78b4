import FoundationEssentials

/// What is to be done to an entry on disk.
enum DiskWork: Sendable {
    /// Write these bytes.
    case write(CachedImageData)
    /// Encode this, then write what it gives.
    case encode(PendingImage)
    /// Remove the entry.
    case remove
    /// Leave the entry as it is.
    case nothing

    /// Bytes that waiting holds in memory.
    var cost: Int {
        switch self {
        case .write(let entry): entry.data.count + (entry.extendedData?.count ?? 0)
        case .encode(let pending): pending.image.memoryCost
        case .remove, .nothing: 0
        }
    }

    /// Whether there will be an entry.
    var isWrite: Bool {
        switch self {
        case .write, .encode: true
        case .remove, .nothing: false
        }
    }
}

/// An image that has to be encoded before it can be written.
struct PendingImage: Sendable {
    let image: Image
    let options: ImageEncodeOptions
    let coder: any ImageCoder
    let extendedData: Data?
    let validators: CacheValidators?

    /// - Parameter extendedData: what is stored with it; the image's if nil.
    init(
        image: Image,
        options: ImageEncodeOptions,
        coder: any ImageCoder,
        extendedData: Data? = nil,
        validators: CacheValidators? = nil
    ) {
        self.image = image
        self.options = options
        self.coder = coder
        self.extendedData = extendedData ?? image.extendedData
        self.validators = validators
    }

    /// The encoded image with what is stored with it; nil when it cannot be encoded.
    func encoded() -> CachedImageData? {
        guard let data = try? coder.encode(image, to: format, options: options) else { return nil }
        return CachedImageData(data: data, extendedData: extendedData, validators: validators)
    }

    /// The image's own format if it can be written and does not lose the image's alpha, else PNG with alpha and JPEG
    /// without.
    var format: ImageFormat {
        let own = image.format
        let losesAlpha = image.hasAlpha && (own == .jpeg || own == .bmp)
        if own != .undefined, !losesAlpha, coder.canEncode(to: own) { return own }
        return image.hasAlpha ? .png : .jpeg
    }
}
