public import FoundationEssentials
public import WebImageModel

/// Files damaged by broken disks and broken connections.
public enum DamagedFiles {
    /// The file cut at every sixteenth of its length.
    public static func truncations(of data: Data) -> [Data] { (0..<16).map { data.prefix(data.count * $0 / 16) } }

    /// The file with one to five bytes changed, each time others.
    public static func corruptions(of data: Data, count: Int = 200, seed: UInt64 = 42) -> [Data] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            var damaged = data
            for _ in 0...Int.random(in: 0..<5, using: &random) {
                damaged[data.startIndex + Int.random(in: 0..<data.count, using: &random)] = .random(
                    in: 0...255,
                    using: &random
                )
            }
            return damaged
        }
    }

    /// The error of a coder's handling of data, damaged or not: an image of another size than the header says. Nil if
    /// there is none, which may mean a decode error. Images of more than a megapixel are refused, so that it does not
    /// take long.
    public static func complaint(of coder: any ImageCoder, about data: Data) -> String? {
        var options = ImageDecodeOptions()
        options.limits.maximumPixelCount = 1 << 20
        let properties = try? coder.properties(of: data, limits: options.limits)
        let image = try? coder.decode(data, options: options)
        var small = options
        small.thumbnailPixelSize = ImageSize(width: 7, height: 7)
        let thumbnail = try? coder.decode(data, options: small)
        if let thumbnail, max(thumbnail.pixelWidth, thumbnail.pixelHeight) > 7 { return "a thumbnail is too big" }
        guard let image else { return nil }
        guard let properties else { return "pixels without a header" }
        let swaps = properties.orientation.swapsSides
        let (width, height) = swaps ? (properties.height, properties.width) : (properties.width, properties.height)
        guard (image.pixelWidth, image.pixelHeight) == (width, height) else {
            return "\(image.pixelWidth)x\(image.pixelHeight) pixels for \(width)x\(height)"
        }
        return nil
    }
}
