import TestSupport
import WebImageCodecs

/// The fixtures of tests of progressive decoding.
enum ProgressiveFixtures {
    static let jpeg = [
        "baseline-420", "baseline-422", "baseline-444", "gray", "cmyk", "cmyk-icc", "ycck", "icc-wide", "icc-gray",
        "icc-long",
        "orientation-3", "orientation-6", "restart", "rgb-kept", "progressive", "many-scans", "non-interleaved",
        "arithmetic",
    ].map { "JPEG/\($0).jpg" }
    static let png =
        [
            "photo-rgb", "photo-rgba", "photo-gray16", "photo-interlaced", "type0-1bit", "type0-4bit-trns",
            "type0-16bit-interlaced",
            "type2-16bit-trns", "type2-8bit-interlaced", "type3-2bit-interlaced", "type3-8bit-trns", "type4-8bit",
            "type4-16bit-interlaced", "type6-16bit", "type6-8bit-interlaced", "tiny-1x1", "tiny-1x9", "tiny-2x3",
            "tiny-5x1",
            "orientation-6", "orientation-after-pixels", "icc-wide", "icc-gray-alpha", "gamma-1.0", "chrm-adobe",
            "animated",
            "animated-default-image", "many-rows", "long-rows", "big-compressed-text",
        ]
        .map { "PNG/\($0).png" }
    static let webp =
        Fixtures.names(in: "WebP", ending: "webp").map { "WebP/\($0).webp" }
        + ["webp-0", "webp-1", "webp-soft-4"].map { "Animation/\($0).webp" }
    static let gif =
        Fixtures.names(in: "GIF", ending: "gif").filter { !["no-frame", "empty-frame"].contains($0) }.map {
            "GIF/\($0).gif"
        }
        + ["random-0", "small-first-frame"].map { "Animation/\($0).gif" }
    static let all = jpeg + png + webp + gif

    /// The coder of a fixture's format.
    static func coder(_ name: String) -> any ProgressiveImageCoder {
        switch name.split(separator: ".").last {
        case "jpg": JPEGCoder()
        case "png": PNGCoder()
        case "webp": WebPCoder()
        default: GIFCoder()
        }
    }
}
