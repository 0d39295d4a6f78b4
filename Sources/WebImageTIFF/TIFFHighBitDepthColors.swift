import CLCMS
import FoundationEssentials
import WebImageCodecs

/// Converts rows of floats, four per pixel, from other colour models to red, green and blue. For one thread.
final class TIFFHighBitDepthColors {
    private enum Way {
        case none
        /// The first of the four is the value of all three.
        case gray
        case matrix([Float])
        case inks
        /// Inks in per cent, or L*a*b*.
        case transform(cmsHTRANSFORM, TIFFPixels.Model)
    }

    private let way: Way
    /// A Boolean value that indicates whether the file's profile has been applied.
    let isFinal: Bool

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(_ model: TIFFPixels.Model, _ profile: Data?) throws(WebImageError) {
        switch model {
        case .rgb, .palette: way = .none
        case .gray: way = .gray
        case .xyz: way = .matrix(Self.lightOfXYZ)
        case .cmyk: way = Self.transform(ofInks: profile).map { .transform($0, model) } ?? .inks
        case .lab:
            guard let transform = Self.transformOfLab() else {
                throw WebImageError(.outOfMemory, "no memory for a colour conversion")
            }
            way = .transform(transform, model)
        }
        isFinal = model == .cmyk || model == .lab || model == .xyz
    }

    deinit { if case .transform(let transform, _) = way { cmsDeleteTransform(transform) } }

    // lcms composes these by macros: float << 22 | colour space << 16 | extra << 7 | channels << 3 | bytes.
    private static let cmyk: cmsUInt32Number = 1 << 22 | 6 << 16 | 4 << 3 | 4
    private static let laba: cmsUInt32Number = 1 << 22 | 10 << 16 | 1 << 7 | 3 << 3 | 4
    private static let rgba: cmsUInt32Number = 1 << 22 | 4 << 16 | 1 << 7 | 3 << 3 | 4
    /// libtiff's matrix for LogLuv pixels: white is light of equal energy.
    private static let lightOfXYZ: [Float] = [2.690, -1.276, -0.414, -1.022, 1.978, 0.044, 0.061, -0.224, 1.163]

    private static func transform(ofInks data: Data?) -> cmsHTRANSFORM? {
        guard let data, data.count >= 128,
            let profile = data.withUnsafeBytes({
                cmsOpenProfileFromMem($0.baseAddress, cmsUInt32Number(clamping: $0.count))
            })
        else { return nil }
        defer { cmsCloseProfile(profile) }
        guard cmsGetColorSpace(profile) == cmsSigCmykData else { return nil }
        return transform(profile, cmyk)
    }

    private static func transformOfLab() -> cmsHTRANSFORM? {
        guard let profile = cmsCreateLab4Profile(nil) else { return nil }
        defer { cmsCloseProfile(profile) }
        return transform(profile, laba)
    }

    private static func transform(_ source: cmsHPROFILE, _ format: cmsUInt32Number) -> cmsHTRANSFORM? {
        guard let target = cmsCreate_sRGBProfile() else { return nil }
        defer { cmsCloseProfile(target) }
        return cmsCreateTransform(source, format, target, rgba, cmsUInt32Number(INTENT_PERCEPTUAL), 0)
    }

    /// Converts in place. The fourth float is kept, except that of CMYK, which is an ink: its value is undefined afterwards.
    func convert(_ row: UnsafeMutablePointer<Float>, count: Int) {
        switch way {
        case .none: break
        case .gray: for x in 0..<count { (row[4 * x + 1], row[4 * x + 2]) = (row[4 * x], row[4 * x]) }
        case .matrix(let matrix): for x in 0..<count { Self.multiply(matrix, row + 4 * x) }
        case .inks:
            for x in 0..<count {
                for channel in 0..<3 { row[4 * x + channel] = (1 - row[4 * x + channel]) * (1 - row[4 * x + 3]) }
            }
        case .transform(let transform, let model):
            for x in 0..<count { model == .lab ? Self.scaleLab(row + 4 * x) : Self.scaleInks(row + 4 * x) }
            cmsDoTransform(transform, row, row, cmsUInt32Number(clamping: count))
        }
    }

    private static func multiply(_ matrix: [Float], _ pixel: UnsafeMutablePointer<Float>) {
        let (x, y, z) = (pixel[0], pixel[1], pixel[2])
        for row in 0..<3 { pixel[row] = matrix[3 * row] * x + matrix[3 * row + 1] * y + matrix[3 * row + 2] * z }
    }

    /// Scales samples of 16 bits, 0...1, to L* from 0 to 100 and the signed a* and b*, stored in 256ths.
    private static func scaleLab(_ pixel: UnsafeMutablePointer<Float>) {
        pixel[0] *= 100
        for channel in 1..<3 { pixel[channel] = (pixel[channel] * 65_535 - 32_768) / 256 }
    }

    private static func scaleInks(_ pixel: UnsafeMutablePointer<Float>) {
        for channel in 0..<4 { pixel[channel] *= 100 }
    }
}
