/// The names of a format. The first extension or type is the one that is written, the others are only read.
private struct FormatNames: Sendable {
    let format: ImageFormat
    let name: String
    let extensions: [String]
    let mimeTypes: [String]
    let typeIdentifiers: [String]

    static let all: [FormatNames] = [
        FormatNames(
            format: .jpeg,
            name: "JPEG",
            extensions: ["jpg", "jpeg", "jpe", "jfif", "pjpeg", "pjp"],
            mimeTypes: ["image/jpeg", "image/jpg", "image/pjpeg"],
            typeIdentifiers: ["public.jpeg"]
        ),
        FormatNames(
            format: .png,
            name: "PNG",
            extensions: ["png", "apng"],
            mimeTypes: ["image/png", "image/apng", "image/x-png", "image/vnd.mozilla.apng"],
            typeIdentifiers: ["public.png"]
        ),
        FormatNames(
            format: .gif,
            name: "GIF",
            extensions: ["gif"],
            mimeTypes: ["image/gif"],
            typeIdentifiers: ["com.compuserve.gif"]
        ),
        FormatNames(
            format: .tiff,
            name: "TIFF",
            extensions: ["tiff", "tif"],
            mimeTypes: ["image/tiff", "image/tiff-fx"],
            typeIdentifiers: ["public.tiff"]
        ),
        FormatNames(
            format: .webp,
            name: "WebP",
            extensions: ["webp"],
            mimeTypes: ["image/webp", "image/x-webp"],
            typeIdentifiers: ["org.webmproject.webp"]
        ),
        FormatNames(
            format: .heic,
            name: "HEIC",
            extensions: ["heic", "heics"],
            mimeTypes: ["image/heic", "image/heic-sequence"],
            typeIdentifiers: ["public.heic", "public.heics"]
        ),
        FormatNames(
            format: .heif,
            name: "HEIF",
            extensions: ["heif", "heifs", "hif"],
            mimeTypes: ["image/heif", "image/heif-sequence"],
            typeIdentifiers: ["public.heif"]
        ),
        FormatNames(
            format: .pdf,
            name: "PDF",
            extensions: ["pdf"],
            mimeTypes: ["application/pdf", "application/x-pdf"],
            typeIdentifiers: ["com.adobe.pdf"]
        ),
        FormatNames(
            format: .svg,
            name: "SVG",
            extensions: ["svg"],
            mimeTypes: ["image/svg+xml", "image/svg"],
            typeIdentifiers: ["public.svg-image"]
        ),
        FormatNames(
            format: .bmp,
            name: "BMP",
            extensions: ["bmp", "dib"],
            mimeTypes: ["image/bmp", "image/x-ms-bmp", "image/x-bmp"],
            typeIdentifiers: ["com.microsoft.bmp"]
        ),
        FormatNames(
            format: .raw,
            name: "RAW",
            extensions: ["raw", "dng", "cr2", "cr3", "nef", "arw", "orf", "rw2", "raf", "pef", "srw"],
            mimeTypes: [
                "image/x-dcraw", "image/x-adobe-dng", "image/x-canon-cr2", "image/x-canon-cr3", "image/x-nikon-nef",
                "image/x-sony-arw", "image/x-olympus-orf", "image/x-panasonic-rw2", "image/x-fuji-raf",
                "image/x-pentax-pef", "image/x-samsung-srw",
            ],
            typeIdentifiers: [
                "public.camera-raw-image", "com.adobe.raw-image", "com.nikon.raw-image", "com.canon.cr2-raw-image",
                "com.canon.cr3-raw-image", "com.sony.arw-raw-image", "com.fuji.raw-image",
                "com.olympus.raw-image", "com.panasonic.rw2-raw-image", "com.pentax.raw-image",
            ]
        ),
        FormatNames(
            format: .avif,
            name: "AVIF",
            extensions: ["avif", "avifs"],
            mimeTypes: ["image/avif", "image/avif-sequence"],
            typeIdentifiers: ["public.avif"]
        ),
        FormatNames(
            format: .jpegXL,
            name: "JPEG XL",
            extensions: ["jxl"],
            mimeTypes: ["image/jxl"],
            typeIdentifiers: ["public.jpeg-xl"]
        ),
        FormatNames(
            format: .ico,
            name: "ICO",
            extensions: ["ico", "cur"],
            mimeTypes: ["image/vnd.microsoft.icon", "image/x-icon", "image/ico"],
            typeIdentifiers: ["com.microsoft.ico", "com.microsoft.cur"]
        ),
        FormatNames(
            format: .mp4,
            name: "MP4",
            extensions: ["mp4", "m4v", "3gp", "3g2"],
            mimeTypes: ["video/mp4", "video/x-m4v", "video/3gpp", "video/3gpp2"],
            typeIdentifiers: ["public.mpeg-4", "com.apple.m4v-video", "public.3gpp", "public.3gpp2"]
        ),
        FormatNames(
            format: .quickTime,
            name: "QuickTime",
            extensions: ["mov", "qt"],
            mimeTypes: ["video/quicktime"],
            typeIdentifiers: ["com.apple.quicktime-movie"]
        ),
        FormatNames(
            format: .webM,
            name: "WebM",
            extensions: ["webm"],
            mimeTypes: ["video/webm"],
            typeIdentifiers: ["org.webmproject.webm"]
        ),
        FormatNames(
            format: .matroska,
            name: "Matroska",
            extensions: ["mkv"],
            mimeTypes: ["video/matroska", "video/x-matroska"],
            typeIdentifiers: ["org.matroska.mkv"]
        ),
    ]

    static let byFormat = Dictionary(uniqueKeysWithValues: all.map { ($0.format, $0) })
    static let byExtension = index(\.extensions)
    static let byMIMEType = index(\.mimeTypes)
    static let byTypeIdentifier = index(\.typeIdentifiers)

    private static func index(_ names: (FormatNames) -> [String]) -> [String: ImageFormat] {
        var table: [String: ImageFormat] = [:]
        for entry in all {
            for name in names(entry) { table[name] = entry.format }
        }
        return table
    }
}

extension ImageFormat {
    /// Returns the format of files with this extension, ``undefined`` if none is known.
    ///
    /// - Parameter fileExtension: with or without the dot, in any case.
    public init(fileExtension: String) {
        let name = fileExtension.hasPrefix(".") ? fileExtension.dropFirst() : Substring(fileExtension)
        self = FormatNames.byExtension[name.lowercased()] ?? .undefined
    }

    /// Returns the format of a MIME type, ``undefined`` if none is known.
    ///
    /// - Parameter mimeType: in any case; parameters after a semicolon are ignored.
    public init(mimeType: String) {
        let type = mimeType.prefix { $0 != ";" }
        let name = type.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        self = FormatNames.byMIMEType[name.lowercased()] ?? .undefined
    }

    /// Returns the format of a uniform type identifier such as `public.jpeg`, ``undefined`` if none is known.
    ///
    /// A camera maker's raw identifier (`com.nikon.raw-image`) is ``raw``.
    public init(typeIdentifier: String) {
        let name = typeIdentifier.lowercased()
        self = FormatNames.byTypeIdentifier[name] ?? (name.hasSuffix("raw-image") ? .raw : .undefined)
    }

    /// The usual extension of files of this format, without the dot; nil if the format is not known.
    public var fileExtension: String? { FormatNames.byFormat[self]?.extensions.first }

    /// The registered MIME type; `application/octet-stream` if the format is not known.
    public var mimeType: String { FormatNames.byFormat[self]?.mimeTypes.first ?? "application/octet-stream" }

    /// The uniform type identifier; `public.image` if the format is not known.
    public var typeIdentifier: String { FormatNames.byFormat[self]?.typeIdentifiers.first ?? "public.image" }
}

extension ImageFormat: CustomStringConvertible {
    /// The name of the format, such as `JPEG`.
    public var description: String {
        if self == .undefined { return "undefined" }
        return FormatNames.byFormat[self]?.name ?? "format \(rawValue)"
    }
}
