import WebImage

/// The options of open-source imgproxy 4, by their long names.
enum ImgproxyOption: String, CaseIterable, Sendable {
    // Size
    case resize, size
    case resizingType = "resizing_type"
    case width, height
    case minWidth = "min-width"
    case minHeight = "min-height"
    case zoom, dpr, enlarge, extend
    case extendAspectRatio = "extend_aspect_ratio"
    // Parts
    case gravity, crop, trim, padding
    // Orientation
    case autoRotate = "auto_rotate"
    case rotate, flip
    // Colours and effects
    case background, blur, sharpen, pixelate, watermark
    // Encoding
    case stripMetadata = "strip_metadata"
    case keepCopyright = "keep_copyright"
    case stripColorProfile = "strip_color_profile"
    case preserveHDR = "preserve_hdr"
    case enforceThumbnail = "enforce_thumbnail"
    case quality
    case formatQuality = "format_quality"
    case maxBytes = "max_bytes"
    case format
    // Answer
    case skipProcessing = "skip_processing"
    case raw, cachebuster, expires, filename
    case returnAttachment = "return_attachment"
    case preset
    // Limits
    case maxSourceResolution = "max_src_resolution"
    case maxSourceFileSize = "max_src_file_size"
    case maxAnimationFrames = "max_animation_frames"
    case maxAnimationFrameResolution = "max_animation_frame_resolution"
    case maxResultDimension = "max_result_dimension"

    /// The other names of the options.
    static let shortNames: [String: ImgproxyOption] = [
        "rs": .resize, "s": .size, "rt": .resizingType, "w": .width, "h": .height, "mw": .minWidth, "mh": .minHeight,
        "z": .zoom, "el": .enlarge, "ex": .extend, "extend_ar": .extendAspectRatio, "exar": .extendAspectRatio,
        "g": .gravity, "c": .crop, "t": .trim, "pd": .padding, "ar": .autoRotate, "rot": .rotate, "fl": .flip,
        "bg": .background, "bl": .blur, "sh": .sharpen, "pix": .pixelate, "wm": .watermark, "sm": .stripMetadata,
        "kcr": .keepCopyright, "scp": .stripColorProfile, "ph": .preserveHDR, "eth": .enforceThumbnail, "q": .quality,
        "fq": .formatQuality, "mb": .maxBytes, "f": .format, "ext": .format, "skp": .skipProcessing,
        "cb": .cachebuster, "exp": .expires, "fn": .filename, "att": .returnAttachment, "pr": .preset,
        "msr": .maxSourceResolution, "msfs": .maxSourceFileSize, "maf": .maxAnimationFrames,
        "mafr": .maxAnimationFrameResolution, "mrd": .maxResultDimension,
    ]

    /// The names of options that only imgproxy Pro has, from its documentation.
    static let namesOfPro: Set<String> = [
        "resizing_algorithm", "ra", "objects_position", "obj_pos", "op", "crop_aspect_ratio", "crop_ar", "car",
        "background_alpha", "bga", "adjust", "a", "brightness", "br", "contrast", "co", "saturation", "sa",
        "monochrome", "mc", "duotone", "dt", "unsharp_masking", "ush", "blur_areas", "ba", "progressive_blur", "pbl",
        "blur_detections", "bd", "draw_detections", "dd", "crop_objects", "colorize", "col", "gradient", "gr",
        "watermark_url", "wmu", "watermark_text", "wmt", "watermark_size", "wms", "watermark_rotate", "wm_rot", "wmr",
        "watermark_shadow", "wmsh", "style", "st", "dpi", "color_profile", "cp", "icc", "autoquality", "aq",
        "jpeg_options", "jpgo", "jpego", "png_options", "pngo", "webp_options", "webpo", "avif_options", "avifo",
        "page", "pg", "pages", "pgs", "disable_animation", "da", "video_thumbnail_second", "vts",
        "video_thumbnail_keyframes", "vtk", "video_thumbnail_tile", "vtt", "video_thumbnail_animation", "vta",
        "fallback_image_url", "fiu", "bypass_cache", "bc", "cache_tags", "ct", "hashsum", "hs",
    ]

    /// Finds an option by its long or a short name.
    init?(name: String) {
        guard let option = ImgproxyOption(rawValue: name) ?? Self.shortNames[name] else { return nil }
        self = option
    }

    /// The formats by the names in URLs.
    static let formats: [String: ImageFormat] = [
        "jpeg": .jpeg, "jpg": .jpeg, "jxl": .jpegXL, "png": .png, "webp": .webp, "gif": .gif, "ico": .ico, "svg": .svg,
        "heic": .heic, "avif": .avif, "bmp": .bmp, "tiff": .tiff,
    ]
    /// The names of formats that only imgproxy Pro writes.
    static let formatsOfPro: Set<String> = ["best", "mp4", "webm", "pdf", "psd"]
}
