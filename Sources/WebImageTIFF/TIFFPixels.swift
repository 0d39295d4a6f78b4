import CTIFFShims
import WebImageCodecs

/// The meaning of an image's samples.
struct TIFFPixels: Sendable {
    /// The colour model.
    enum Model: Sendable { case gray, rgb, palette, cmyk, lab, xyz }

    let model: Model
    let bits: Int
    let isFloat: Bool
    let isSigned: Bool
    /// 0 is white.
    let isInverted: Bool
    /// A Boolean value that indicates whether the second and third sample of L*a*b* are signed.
    let hasSignedColors: Bool
    /// The index of the alpha sample; nil without alpha.
    let alpha: Int?
    /// A Boolean value that indicates whether colours are stored premultiplied.
    let isAssociated: Bool
    let samples: Int
    /// A Boolean value that indicates whether samples are linear light (LogLuv).
    let isLight: Bool

    /// Returns nil for samples that only libtiff can convert.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for invalid samples.
    init?(_ info: webimage_tiff_info) throws(WebImageError) {
        let oldJPEG: UInt16 = 6
        guard info.compression != oldJPEG else { return nil }
        switch info.photometric {
        case 0, 1, 4: model = .gray
        case 2: model = .rgb
        case 3: model = .palette
        case 5: model = .cmyk
        case 8, 9: model = .lab
        case 32_844: model = .gray
        case 32_845: model = .xyz
        default: return nil
        }
        bits = Int(info.bits_per_sample)
        samples = Int(info.samples_per_pixel)
        isFloat = info.sample_format == 3
        isSigned = info.sample_format == 2 && model != .palette && model != .lab
        hasSignedColors = info.photometric == 8
        isInverted = info.photometric == 0
        let isKnown = isFloat ? [16, 32, 64].contains(bits) : (1...16).contains(bits) || bits == 32
        guard isKnown, info.sample_format <= 4 else {
            throw WebImageError(.badImageData, "TIFF: invalid samples of \(bits) bits and format \(info.sample_format)")
        }
        isLight = info.photometric == 32_844 || info.photometric == 32_845
        guard !isLight || isFloat else { throw WebImageError(.badImageData, "TIFF: LogLuv without compression") }
        let colors = Self.colorCount(model)
        guard model != .lab || !isFloat && (bits == 8 || bits == 16 && hasSignedColors) else {
            throw WebImageError(.badImageData, "TIFF: invalid L*a*b* of \(bits) bits")
        }
        guard samples >= colors, model != .palette || !isFloat && bits <= 16 && info.palette.0 != nil else {
            throw WebImageError(.badImageData, "TIFF: too few samples or no palette")
        }
        (alpha, isAssociated) = Self.alpha(info, colors: colors, model)
    }

    private static func colorCount(_ model: Model) -> Int {
        switch model {
        case .gray, .palette: 1
        case .rgb, .lab, .xyz: 3
        case .cmyk: 4
        }
    }

    /// Returns the index of the alpha sample, and whether it is premultiplied. A tag describes samples beyond the colours; without it, one such
    /// sample is treated as straight alpha, as writers without the tag mean it.
    private static func alpha(_ info: webimage_tiff_info, colors: Int, _ model: Model) -> (Int?, Bool) {
        let extra = Int(info.samples_per_pixel) - colors
        guard extra > 0, model == .gray || model == .rgb || model == .palette else { return (nil, false) }
        if info.extra_count < 0 {
            return model == .palette ? (nil, false) : extra == 1 ? (colors, false) : (nil, false)
        }
        let types = withUnsafeBytes(of: info.extra_types) { Array($0.bindMemory(to: UInt16.self)) }
        for index in 0..<min(extra, Int(info.extra_count), types.count) where types[index] == 1 || types[index] == 2 {
            // The colours of a palette are straight, whatever the tag states.
            return (colors + index, types[index] == 1 && model != .palette)
        }
        return (nil, false)
    }

    /// The samples that are used.
    var channels: [Int] {
        Array(0..<Self.colorCount(model)) + (alpha.map { [$0] } ?? [])
    }

    /// The number of visible bits; 8 if the samples have fewer, and for palettes, whose colours have no more.
    var bitsPerComponent: Int { model == .palette ? 8 : max(bits, 8) }

    /// Returns the row layout. Premultiplied pixels need no further work, unless there are colours to convert first.
    func layout(hasProfile: Bool) -> ScanlineLayout {
        if alpha != nil { return isAssociated && !hasProfile ? .bgra8Premultiplied : .rgba8 }
        switch model {
        case .gray: return .gray8
        case .rgb, .palette, .lab, .xyz: return .rgb8
        case .cmyk: return .cmyk8
        }
    }
}
