import CTIFFShims
import WebImageCodecs

/// What the samples of a picture mean.
struct TIFFPixels: Sendable {
    /// What colours are made of.
    enum Model: Sendable { case gray, rgb, palette, cmyk, lab, xyz }

    let model: Model
    let bits: Int
    let isFloat: Bool
    let isSigned: Bool
    /// 0 is white.
    let isInverted: Bool
    /// The second and third sample of L*a*b* are signed.
    let hasSignedColors: Bool
    /// Which sample is the alpha.
    let alpha: Int?
    /// Colours are stored premultiplied.
    let isAssociated: Bool
    let samples: Int
    /// Samples are light (LogLuv), and not what stands for it.
    let isLight: Bool

    /// Nil for what only libtiff can convert.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for samples that nobody can make sense of.
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
            throw WebImageError(.badImageData, "TIFF: samples of \(bits) bits and format \(info.sample_format)")
        }
        isLight = info.photometric == 32_844 || info.photometric == 32_845
        guard !isLight || isFloat else { throw WebImageError(.badImageData, "TIFF: LogLuv that is not compressed") }
        let colors = Self.colorCount(model)
        guard model != .lab || !isFloat && (bits == 8 || bits == 16 && hasSignedColors) else {
            throw WebImageError(.badImageData, "TIFF: L*a*b* of \(bits) bits")
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

    /// Samples beyond the colours are told by a tag; without it, one is taken for straight alpha, as it was meant by those who
    /// left the tag out.
    private static func alpha(_ info: webimage_tiff_info, colors: Int, _ model: Model) -> (Int?, Bool) {
        let extra = Int(info.samples_per_pixel) - colors
        guard extra > 0, model == .gray || model == .rgb || model == .palette else { return (nil, false) }
        if info.extra_count < 0 {
            return model == .palette ? (nil, false) : extra == 1 ? (colors, false) : (nil, false)
        }
        let types = withUnsafeBytes(of: info.extra_types) { Array($0.bindMemory(to: UInt16.self)) }
        for index in 0..<min(extra, Int(info.extra_count), types.count) where types[index] == 1 || types[index] == 2 {
            // The colours of a palette are straight, whatever the tag says.
            return (colors + index, types[index] == 1 && model != .palette)
        }
        return (nil, false)
    }

    /// Samples that are looked at.
    var channels: [Int] {
        Array(0..<Self.colorCount(model)) + (alpha.map { [$0] } ?? [])
    }

    /// Bits of what is seen; 8 where the samples have fewer, and of palettes, whose colours have no more.
    var bitsPerComponent: Int { model == .palette ? 8 : max(bits, 8) }

    /// Premultiplied pixels are final as they are, unless there are colours to convert first.
    func layout(hasProfile: Bool) -> ScanlineLayout {
        if alpha != nil { return isAssociated && !hasProfile ? .bgra8Premultiplied : .rgba8 }
        switch model {
        case .gray: return .gray8
        case .rgb, .palette, .lab, .xyz: return .rgb8
        case .cmyk: return .cmyk8
        }
    }
}
