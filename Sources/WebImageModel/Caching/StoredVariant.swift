/// An image on disk that was made from an original, as the original's entry records it.
package struct StoredVariant: Sendable, Hashable {
    /// The maximum number of variants that an entry records.
    package static let mostCount = 16

    /// How the image fits into its box; the values are those in keys.
    package enum Fit: Int, Sendable, Hashable {
        case stretched = 0
        case inside = 1
        case covering = 2
    }

    /// The width in pixels.
    package let width: Int
    /// The height in pixels.
    package let height: Int
    /// The width of the upright original in pixels.
    package let sourceWidth: Int
    /// The height of the upright original in pixels.
    package let sourceHeight: Int
    /// The box of the thumbnail, from which its key is derived; nil for an image in full size.
    package let box: ImageSize?
    package let fit: Fit
    /// The hash of everything else that determines the pixels. Variants of the same kind differ only in size.
    package let kind: UInt64
    /// True if it was made from the original by decoding and transforming, and stored without loss.
    package let isExact: Bool

    package init(
        size: (width: Int, height: Int),
        sourceSize: (width: Int, height: Int),
        box: ImageSize?,
        fit: Fit,
        kind: UInt64,
        isExact: Bool
    ) {
        (width, height) = size
        (sourceWidth, sourceHeight) = sourceSize
        self.box = box
        self.fit = fit
        self.kind = kind
        self.isExact = isExact
    }

    /// Returns whether both have the same key.
    fileprivate func hasKey(of other: StoredVariant) -> Bool {
        box == other.box && fit == other.fit && kind == other.kind
    }
}

extension [StoredVariant] {
    /// Returns the variants, the oldest first, with others added, which replace those with their keys. If there are too many, the oldest are
    /// left out.
    package func adding(_ others: [StoredVariant]) -> [StoredVariant] {
        var result = self
        for variant in others {
            result.removeAll { $0.hasKey(of: variant) }
            result.append(variant)
        }
        return Array(result.suffix(StoredVariant.mostCount))
    }
}
