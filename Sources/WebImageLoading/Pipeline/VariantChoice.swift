/// The use that a load whose exact result is not cached makes of images of other sizes.
enum VariantChoice<Found> {
    /// The image is scaled down to the size in pixels, or has it already.
    case scale(Found, ImageVariant, width: Int, height: Int)
    /// The image is delivered as a preview while the result is loaded.
    case preview(Found, ImageVariant)
    /// There is none of use.
    case none
}

/// The part of a load that decides which variants of its original it can use. Compares sizes and kinds only; the images are looked up by
/// the caller.
struct VariantRequest: Sendable {
    let kind: ImageVariant.Kind
    let options: ImageDecodeOptions
    /// True if the result may be scaled: it has no transformers, or all of them are size-covariant.
    let isScalable: Bool

    init(_ options: ImageDecodeOptions, coder: any ImageCoder, _ chain: LoadPlan.Chain) {
        kind = ImageVariant.Kind(options, coder: coder, transformerKey: chain.key)
        self.options = options
        isScalable = chain.isSizeCovariant
    }

    /// Returns the variant to use: the smallest that can be scaled down, or else the best preview.
    ///
    /// - Parameters:
    ///   - variants: The variants in ascending order of their sizes.
    ///   - find: Returns the image of a variant; nil if it is not in memory any more.
    func choose<Found>(among variants: [ImageVariant], find: (ImageVariant) -> Found?) -> VariantChoice<Found> {
        let variants = variants.filter { $0.kind == kind }
        if isScalable, options.isThumbnail {
            for variant in variants {
                guard let size = size(of: variant), isSource(variant, of: size), let found = find(variant) else {
                    continue
                }
                return .scale(found, variant, width: size.width, height: size.height)
            }
        }
        // Without those of another shape: a view would show them distorted, and change its own shape twice.
        let previews = variants.compactMap { variant in
            size(of: variant).flatMap { hasShape(variant, $0) ? (variant: variant, size: $0) : nil }
        }
        let larger = previews.filter { $0.variant.width >= $0.size.width && $0.variant.height >= $0.size.height }
        // If it has more pixels than needed, the smallest of them is uploaded to the screen the fastest.
        for (variant, _) in larger + previews.reversed() {
            if let found = find(variant) { return .preview(found, variant) }
        }
        return .none
    }

    /// Returns whether a variant has the shape of the result, but for the rounding of the sides of both to whole pixels. Transformers may make
    /// another shape of it; then the variant has that, too, and is not shown.
    private func hasShape(_ variant: ImageVariant, _ size: (width: Int, height: Int)) -> Bool {
        let difference = abs(variant.width * size.height - variant.height * size.width)
        return 2 * difference <= max(variant.width + size.width, variant.height + size.height)
    }

    /// Returns whether scaling a variant down makes an image as good as a decode at that size.
    private func isSource(_ variant: ImageVariant, of size: (width: Int, height: Int)) -> Bool {
        guard variant.isExact, !variant.isFirstFrame || options.decodeFirstFrameOnly else { return false }
        return Self.isEnough(variant.width, for: size.width) && Self.isEnough(variant.height, for: size.height)
    }

    /// A filter over pixels that a filter has made removes detail twice. From 1.5 times the size on, the first filter keeps all detail that
    /// the second one lets pass.
    private static func isEnough(_ available: Int, for wanted: Int) -> Bool {
        available == wanted || 2 * available >= 3 * wanted
    }

    /// Returns the size of the load's result, given the size of the original; nil if a decode would be refused or limited by bytes.
    private func size(of variant: ImageVariant) -> (width: Int, height: Int)? {
        var options = options
        options.page = 0
        let properties = ImageProperties(format: .undefined, width: variant.sourceWidth, height: variant.sourceHeight)
        guard let plan = try? DecodePlan.make(for: properties, options: options), plan.scaleDownLimitBytes == 0 else {
            return nil
        }
        return (plan.width, plan.height)
    }
}
