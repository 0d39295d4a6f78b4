public import FoundationEssentials

/// The registered coders; itself a coder that asks them, the one added last first.
public final class ImageCodersManager: AnimatedImageCoder, AnimatedImageEncoder {
    /// The manager that everything uses unless told otherwise.
    public static let shared = ImageCodersManager()

    /// The coders, and what was made of them.
    struct Registry {
        var coders: [any ImageCoder] {
            didSet {
                generation += 1
                accept = nil
            }
        }
        /// How often the coders have changed.
        private(set) var generation: UInt64 = 0
        /// The field that asks for what they take; nil until somebody wants it.
        var accept: AcceptField?

        init(_ coders: [any ImageCoder]) { self.coders = coders }
    }

    let list: Lock<Registry>

    /// A manager of the built-in coders, or of those given, the last having the highest priority.
    public init(coders: [any ImageCoder]? = nil) { list = Lock(Registry(coders ?? Self.builtIn)) }

    /// JPEG, PNG, GIF, WebP, BMP, ICO.
    public static var builtIn: [any ImageCoder] {
        [JPEGCoder(), PNGCoder(), GIFCoder(), WebPCoder(), BMPCoder(), ICOCoder()]
    }

    /// The coders, the last having the highest priority.
    public var coders: [any ImageCoder] {
        get { list.withLock { $0.coders } }
        set {
            let former = list.withLock { list in
                defer { list.coders = newValue }
                return list.coders
            }
            // Coders may go with this, outside the lock.
            withExtendedLifetime(former) {}
        }
    }

    /// Adds a coder with the highest priority.
    public func add(_ coder: any ImageCoder) { list.withLock { $0.coders.append(coder) } }

    /// Adds coders with the highest priority, except those of a kind of which there is one.
    ///
    /// - Parameter kind: the type that counts, which for a coder around another one may be the other's.
    package func addMissing(
        _ coders: [any ImageCoder],
        kind: (any ImageCoder) -> any ImageCoder.Type = { type(of: $0) }
    ) {
        list.withLock { list in
            for coder in coders where !list.coders.contains(where: { kind($0) == kind(coder) }) {
                list.coders.append(coder)
            }
        }
    }

    /// Removes a coder: the object itself; of a type without stored properties every one. A value with stored properties cannot be
    /// told from others of its type and stays; leave it out of ``coders`` instead.
    public func remove(_ coder: any ImageCoder) {
        let identity = CoderIdentity(coder)
        let former = list.withLock { list in
            defer { list.coders.removeAll { CoderIdentity($0) == identity } }
            return list.coders
        }
        // A coder may go with this, outside the lock.
        withExtendedLifetime(former) {}
    }

    /// Whether any coder takes the data.
    public func canDecode(_ data: Data) -> Bool { coders.contains { $0.canDecode(data) } }

    /// Asks the first coder that takes the data.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try coder(for: data, limits: limits).properties(of: data, limits: limits)
    }

    /// What the first coder that takes the data needs.
    public func memoryNeed(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> DecodeMemoryNeed {
        try coder(for: data, limits: options.limits).memoryNeed(of: data, options: options)
    }

    /// Decodes with the first coder that takes the data; its answer is final.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try coder(for: data, limits: options.limits).decode(data, options: options)
    }

    /// Opens an animation with the first coder that takes the data and knows animations.
    ///
    /// - Throws: also ``WebImageError/Code/unsupportedFormat`` when there is none.
    public func animation(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> any AnimatedImageProvider {
        // Says what is wrong with the data, if that is it.
        _ = try coder(for: data, limits: options.limits)
        let coders = coders.compactMap { $0 as? any AnimatedImageCoder }
        guard let coder = coders.last(where: { $0.canDecode(data) }) else {
            throw WebImageError(.unsupportedFormat, "no coder opens animations of \(ImageFormat(detecting: data))")
        }
        return try coder.animation(of: data, options: options)
    }

    /// Whether any coder writes the format.
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

    /// Whether any coder writes animations in the format.
    public func canEncodeAnimation(to format: ImageFormat) -> Bool { animationEncoder(of: format) != nil }

    /// Encodes an animation with the first coder that writes such; `.undefined` means WebP, or GIF where no coder
    /// writes animated WebP.
    ///
    /// - Throws: also ``WebImageError/Code/unsupportedFormat`` for more than one frame in a format without animations.
    public func encode(
        _ animation: any AnimatedImageProvider,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        let target = format == .undefined ? defaultAnimationFormat : format
        if let coder = animationEncoder(of: target) { return try coder.encode(animation, to: target, options: options) }
        guard animation.frameCount == 1 || options.encodeFirstFrameOnly else {
            throw WebImageError(.unsupportedFormat, "no coder writes animations as \(target)")
        }
        return try encode(try animation.frame(at: 0), to: target, options: options)
    }

    private func animationEncoder(of format: ImageFormat) -> (any AnimatedImageEncoder)? {
        coders.lazy.compactMap { $0 as? any AnimatedImageEncoder }.last { $0.canEncodeAnimation(to: format) }
    }

    private func coder(for data: Data, limits: ImageLimits) throws(WebImageError) -> any ImageCoder {
        guard !data.isEmpty else { throw WebImageError(.badImageData, "there is no data") }
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
                throw WebImageError(.badImageData, "the data is not a picture of a known format")
            }
            throw WebImageError(.unsupportedFormat, "no coder is registered for \(format)")
        }
        return coder
    }
}

extension ImageCodersManager: PlacedCoder {
    /// The queue of the coder that takes the data, if that decodes outside this process.
    package func queue(for data: Data) -> WorkQueue? {
        (coders.last { $0.canDecode(data) } as? any PlacedCoder)?.queue(for: data)
    }

    package var memoryDomain: String { "" }
}
