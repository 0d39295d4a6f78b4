import WebImage
import WebImageAVIF
import WebImageHEIF
import WebImageJPEGXL
import WebImagePDFDecoder
import WebImageRAW
import WebImageSVG
import WebImageTIFF
import WebImageVideoDecoder

extension FuzzTarget {
    /// A target for each format, and one for all behind the sniffer.
    static let pictures: [FuzzTarget] = [
        picture("jpeg", JPEGCoder(), dictionary: "jpeg", [Fixtures(directory: "JPEG", suffix: "jpg")]),
        picture("png", PNGCoder(), dictionary: "png", [Fixtures(directory: "PNG", suffix: "png")]),
        picture(
            "apng",
            PNGCoder(),
            dictionary: "png",
            [Fixtures(directory: "Animation", suffix: "png", prefix: "apng")]
        ),
        picture(
            "gif",
            GIFCoder(),
            dictionary: "gif",
            [Fixtures(directory: "GIF", suffix: "gif"), Fixtures(directory: "Animation", suffix: "gif")]
        ),
        picture("webp", WebPCoder(), dictionary: "webp", [Fixtures(directory: "WebP", suffix: "webp")]),
        picture(
            "webp-animation",
            WebPCoder(),
            dictionary: "webp",
            [
                Fixtures(directory: "Animation", suffix: "webp"),
                Fixtures(directory: "WebP", suffix: "webp", prefix: "anim"),
            ]
        ),
        picture("bmp", BMPCoder(), dictionary: "bmp", [Fixtures(directory: "BMP", suffix: "bmp")]),
        picture(
            "ico",
            ICOCoder(),
            dictionary: "bmp",
            [Fixtures(directory: "ICO", suffix: "ico"), Fixtures(directory: "ICO", suffix: "cur")]
        ),
        picture("tiff", TIFFCoder(), dictionary: "tiff", [Fixtures(directory: "TIFF", suffix: "tiff")]),
        picture(
            "svg",
            SVGCoder(maximumInProcessByteCount: .max),
            dictionary: "svg",
            [Fixtures(directory: "SVG", suffix: "svg")]
        ),
        picture(
            "video",
            FrameCoder(),
            dictionary: "video",
            ["mp4", "mov", "webm", "mkv"].map { Fixtures(directory: "Video", suffix: $0) }
        ),
        picture("pdf", PopplerCoder(), dictionary: "pdf", [Fixtures(directory: "PDF", suffix: "pdf")]),
        picture(
            "avif",
            AVIFCoder(),
            dictionary: "iso",
            [Fixtures(directory: "AVIF", suffix: "avif"), Fixtures(directory: "CodedSizes", suffix: "avif")]
        ),
        picture(
            "heif",
            HEIFCoder(),
            dictionary: "iso",
            [Fixtures(directory: "HEIF", suffix: "heic"), Fixtures(directory: "CodedSizes", suffix: "heic")]
        ),
        FuzzTarget(
            name: "raw",
            summary: "header, preview, thumbnail, development",
            longestInput: 24 << 10,
            timeout: 10,
            dictionary: "raw",
            fixtures: ["dng", "nef", "arw", "cr2", "orf", "rw2"].map { Fixtures(directory: "RAW", suffix: $0) },
            check: { (data) throws(FuzzFinding) in
                for development in [ImageDecodeOptions.RawDevelopment.preview, .full] {
                    var check = ImageCheck(RAWCoder(), data, rawDevelopment: development)
                    try check.run()
                }
            }
        ),
        picture("jpegxl", JPEGXLCoder(), dictionary: "jpegxl", [Fixtures(directory: "JPEGXL", suffix: "jxl")]),
    ]

    private static func picture(
        _ name: String,
        _ coder: any ImageCoder,
        dictionary: String,
        _ fixtures: [Fixtures]
    ) -> FuzzTarget {
        FuzzTarget(
            name: name,
            summary: "header, decode, thumbnail, in pieces, frames",
            longestInput: 24 << 10,
            timeout: ["pdf", "svg", "video"].contains(name) ? 25 : 10,
            dictionary: dictionary,
            fixtures: fixtures,
            check: { (data) throws(FuzzFinding) in
                var check = ImageCheck(coder, data)
                try check.run()
            }
        )
    }
}
