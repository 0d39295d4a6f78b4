public import FoundationEssentials

/// The registered coders, combined into one coder. The coder added last is asked first.
public final class ImageCodersManager: AnimatedImageCoder, AnimatedImageEncoder {
    /// The default manager.
    public static let shared = ImageCodersManager()

    /// The coders and the values derived from them.
    struct Registry {
        var coders: [any ImageCoder] {
            didSet {
                generation += 1
                accept = nil
            }
        }
        /// The number of times that the coders have changed.
        private(set) var generation: UInt64 = 0
        /// The cached `Accept` field for these coders; nil until first used.
        var accept: AcceptField?

        init(_ coders: [any ImageCoder]) { self.coders = coders }
    }

    let list: Lock<Registry>

    /// Creates a manager of the given coders, or of the built-in ones. The last coder has the highest priority.
    public init(coders: [any ImageCoder]? = nil) { list = Lock(Registry(coders ?? Self.builtIn)) }

    /// The coders for ICO, BMP, GIF, WebP, PNG and JPEG; the most frequent formats are asked first.
    public static var builtIn: [any ImageCoder] {
        [ICOCoder(), BMPCoder(), GIFCoder(), WebPCoder(), PNGCoder(), JPEGCoder()]
    }

    /// The coders; the last one has the highest priority.
    public var coders: [any ImageCoder] {
        get { list.withLock { $0.coders } }
        set {
            let former = list.withLock { list in
                defer { list.coders = newValue }
                return list.coders
            }
            // Coders may be released here, outside the lock.
            withExtendedLifetime(former) {}
        }
    }

    /// Adds a coder with the highest priority.
    public func add(_ coder: any ImageCoder) { list.withLock { $0.coders.append(coder) } }

    /// Adds coders with the highest priority, except those whose kind is already registered.
    ///
    /// - Parameter kind: returns the type that identifies a coder's kind; for a coder that wraps another, this can be the wrapped coder's
    ///   type.
    package func addMissing(
        _ coders: [any ImageCoder],
        kind: (any ImageCoder) -> any ImageCoder.Type = { type(of: $0) }
    ) {
        list.withLock { list in
            var kinds = list.coders.map(kind)
            let missing = coders.filter { coder in
                let kind = kind(coder)
                defer { kinds.append(kind) }
                return !kinds.contains { $0 == kind }
            }
            if !missing.isEmpty { list.coders += missing }
        }
    }

    /// Removes a coder. A class instance is removed by identity; for a value type without stored properties, every coder of the type is removed. A
    /// value with stored properties cannot be identified and stays; leave it out of ``coders`` instead.
    public func remove(_ coder: any ImageCoder) {
        let identity = CoderIdentity(coder)
        let former = list.withLock { list in
            defer { list.coders.removeAll { CoderIdentity($0) == identity } }
            return list.coders
        }
        // The coder may be released here, outside the lock.
        withExtendedLifetime(former) {}
    }

    /// Returns whether any coder decodes the data.
    public func canDecode(_ data: Data) -> Bool { coders.contains { $0.canDecode(data) } }

    /// Reads the properties with the first coder that takes the data.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try coder(for: data, limits: limits).properties(of: data, limits: limits)
    }

    /// Returns the memory cost according to the first coder that takes the data.
    public func memoryNeed(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> DecodeMemoryNeed {
        try coder(for: data, limits: options.limits).memoryNeed(of: data, options: options)
    }

    /// Decodes with the first coder that takes the data. If it fails, no other coder is tried.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try coder(for: data, limits: options.limits).decode(data, options: options)
    }

    /// Opens an animation with the first coder that takes the data and supports animations.
    ///
    /// - Throws: also ``WebImageError/Code/unsupportedFormat`` without such a coder.
    public func animation(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> any AnimatedImageProvider {
        // Throws a more specific error if no coder takes the data at all.
        _ = try coder(for: data, limits: options.limits)
        let coders = coders.compactMap { $0 as? any AnimatedImageCoder }
        guard let coder = coders.last(where: { $0.canDecode(data) }) else {
            throw WebImageError(.unsupportedFormat, "no coder decodes animations in \(ImageFormat(detecting: data))")
        }
        return try coder.animation(of: data, options: options)
    }

    /// Returns whether any coder writes the format.
    public func canEncode(to format: ImageFormat) -> Bool { coders.contains { $0.canEncode(to: format) } }

    /// Encodes with the first coder that writes the format; `.undefined` means PNG with alpha and JPEG without.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        let target = format == .undefined ? (image.hasAlpha ? .png : .jpeg) : format
        guard let coder = coders.last(where: { $0.canEncode(to: target) }) else {
            throw WebImageError(.unsupportedFormat, "no coder writes \(target)")
        }
        return try coder.encode(image, to: target, options: options)
    }

    /// Returns whether any coder writes animations in the format.
    public func canEncodeAnimation(to format: ImageFormat) -> Bool { animationEncoder(of: format) != nil }

    /// Encodes an animation with the first coder that writes animations in the format; `.undefined` means GIF if it holds the animation without
    /// loss, otherwise APNG; with ``ImageEncodeOptions/maxFileSize`` WebP.
    ///
    /// - Throws: also ``WebImageError/Code/unsupportedFormat`` for more than one frame in a format without animations.
    public func encode(
        _ animation: any AnimatedImageProvider,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        let target = format == .undefined ? self.format(of: animation, options: options) : format
        if let coder = animationEncoder(of: target) { return try coder.encode(animation, to: target, options: options) }
        guard animation.frameCount == 1 || options.encodeFirstFrameOnly else {
            throw WebImageError(.unsupportedFormat, "no coder writes animations as \(target)")
        }
        return try encode(try animation.frame(at: 0), to: target, options: options)
    }

    private func animationEncoder(of format: ImageFormat) -> (any AnimatedImageEncoder)? {
        coders.lazy.compactMap { $0 as? any AnimatedImageEncoder }.last { $0.canEncodeAnimation(to: format) }
    }

    private func coder(for data: Data, limits: ImageLimits = ImageLimits()) throws(WebImageError) -> any ImageCoder {
        guard !data.isEmpty else { throw WebImageError(.badImageData, "the data is empty") }
        guard data.count <= limits.maximumEncodedByteCount else {
            throw .limitExceeded(
                "maximumEncodedByteCount",
                allowed: limits.maximumEncodedByteCount,
                required: data.count
            )
        }
        guard let coder = coders.last(where: { $0.canDecode(data) }) else {
            let format = ImageFormat(detecting: data)
            if format == .undefined {
                throw WebImageError(.badImageData, "the data is not an image of a known format")
            }
            throw WebImageError(.unsupportedFormat, "no coder is registered for \(format)")
        }
        return coder
    }
}

extension ImageCodersManager: ByteSourceCoder {
    package func properties(of source: any ImageByteSource, limits: ImageLimits) throws(WebImageError)
        -> ImageProperties
    {
        try coder(for: source).properties(of: source, limits: limits)
    }

    package func memoryNeed(
        of source: any ImageByteSource,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed { try coder(for: source).memoryNeed(of: source, options: options) }

    package func decode(_ source: any ImageByteSource, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try coder(for: source).decode(source, options: options)
    }

    private func coder(for source: any ImageByteSource) throws(WebImageError) -> any ByteSourceCoder {
        try coder(for: source.beginning).decodingSources(of: ImageFormat(detecting: source.beginning))
    }
}

extension ImageCodersManager: OutOfProcessCoder {
    /// Returns the queue of the coder that takes the data, if that coder decodes outside this process.
    package func queue(for data: Data) -> WorkQueue? {
        (coders.last { $0.canDecode(data) } as? any OutOfProcessCoder)?.queue(for: data)
    }

    package var memoryDomain: String { "" }
}

extension ImageCodersManager {
    /// The `Accept` field for the formats that the current coders decode. Cost: one lock, unless the coders have changed.
    package var accept: AcceptField {
        let (cached, coders, generation) = list.withLock { list -> (AcceptField?, [any ImageCoder], UInt64) in
            if let accept = list.accept { return (accept, [], 0) }
            return (nil, list.coders, list.generation)
        }
        if let cached { return cached }
        // The coders are called outside the lock: they can be user code.
        let value = AcceptField.value { data in coders.contains { $0.canDecode(data) } }
        let accept = AcceptField(value: value, generation: generation)
        list.withLock { if $0.generation == generation { $0.accept = accept } }
        return accept
    }
}
