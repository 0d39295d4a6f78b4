import FoundationEssentials
import WebImage

/// A variant of an image: whole or as a thumbnail, plain or transformed. Each has its own key.
struct ModelVariant: Hashable, Sendable, CustomStringConvertible {
    static let chains: [[UInt8]] = [[], [1], [1, 2], [2]]
    static let count = (ModelImage.thumbnailSizes.count + 1) * chains.count
    static let original = ModelVariant(number: 0)
    static let all = (0..<count).map { ModelVariant(number: $0) }

    let number: Int

    /// 0 for the whole image.
    var thumbnail: Int { number / Self.chains.count }
    var chain: [UInt8] { Self.chains[number % Self.chains.count] }
    var description: String { "variant \(thumbnail)/\(chain.map { String($0) }.joined())" }

    /// The variants that it may be derived from, including itself.
    var sources: [ModelVariant] { Self.sourceTable[number] }

    private static let sourceTable: [[ModelVariant]] = all.map { variant in
        all.filter { source in
            if source == .original { return true }
            return source.thumbnail == variant.thumbnail && variant.chain.starts(with: source.chain)
        }
    }

    /// Returns whether an image of this variant may have this content.
    func fits(_ picture: ModelImage, allowsLimit: Bool) -> Bool {
        guard picture.chain == chain.reduce(0, { $0 * 3 + $1 }) else { return false }
        if (picture.width, picture.height) == size { return true }
        return allowsLimit && size.width * size.height * 4 > ModelImage.byteLimit
            && (picture.width, picture.height) == ModelImage.limitedSize
    }

    /// Without a byte limit.
    var size: (width: Int, height: Int) {
        thumbnail == 0 ? ModelImage.fullSize : ModelImage.thumbnailSizes[thumbnail - 1]
    }

    /// An image of this variant.
    func picture(url: Int, version: Int) -> ModelImage {
        var picture = ModelImage(url: url, version: version)
        if thumbnail > 0 { (picture.width, picture.height) = ModelImage.thumbnailSizes[thumbnail - 1] }
        picture.chain = chain.reduce(0) { $0 * 3 + $1 }
        return picture
    }

    func apply(to context: inout WebImageContext, pause: @escaping @Sendable () -> Void) {
        if thumbnail > 0 {
            let size = ModelImage.thumbnailSizes[thumbnail - 1]
            context.thumbnailPixelSize = ImageSize(width: size.width, height: size.height)
        }
        switch chain.count {
        case 0: break
        case 1: context.imageTransformer = .transformer(ModelTransformer(chain[0], pause: pause))
        default:
            let chain = chain.map { ModelTransformer($0, pause: pause) }
            context.imageTransformer = .transformer(PipelineTransformer(chain))
        }
    }
}

/// URLs and keys of the model.
enum ModelKeys {
    static let urlCount = 16
    static let urls = (0..<urlCount).compactMap { URL(string: "http://host/\($0).png") }

    static let keys: [[String]] = urls.map { url in
        ModelVariant.all.map { variant in
            var key = url.absoluteString
            if variant.thumbnail > 0 {
                let size = ModelImage.thumbnailSizes[variant.thumbnail - 1]
                let box = ImageSize(width: size.width, height: size.height)
                key = CacheKeys.thumbnail(key, size: box, preserveAspectRatio: true)
            }
            guard !variant.chain.isEmpty else { return key }
            let names = variant.chain.map { ModelTransformer($0).transformerKey }
            return CacheKeys.transformed(key, by: names.joined(separator: "-"))
        }
    }

    private static let places: [String: (url: Int, variant: ModelVariant)] = {
        var places: [String: (url: Int, variant: ModelVariant)] = [:]
        for (url, keys) in keys.enumerated() {
            for (variant, key) in keys.enumerated() { places[key] = (url, ModelVariant(number: variant)) }
        }
        return places
    }()

    private static let numbers = Dictionary(uniqueKeysWithValues: urls.enumerated().map { ($1, $0) })

    static func key(_ url: Int, _ variant: ModelVariant) -> String { keys[url][variant.number] }
    static func place(of key: String) -> (url: Int, variant: ModelVariant)? { places[key] }
    static func number(of url: URL) -> Int? { numbers[url] }
}
