import CLCMS
import CPixels
import FoundationEssentials

/// Converts pixels of more than 8 bits of one image (four floats, straight alpha) to sRGB. For one thread.
final class HighBitDepthConverter {
    private enum Way {
        /// The pixels are sRGB.
        case none
        case profile(cmsHTRANSFORM)
        case light(cpixels_light, TransferTable?)
    }

    private let way: Way
    /// A Boolean value that indicates whether the conversion to 8 bits compresses highlights brighter than white.
    private let toneMaps: Bool

    /// - Parameters:
    ///   - color: the colour space, unless a profile defines it.
    ///   - profile: an ICC profile, which has precedence; ignored if it is broken, too long or neither RGB nor grey.
    ///   - toneMaps: the image is of high dynamic range even if its colour space does not indicate that.
    init(color: SourceColor?, profile: Data?, limit: Int, toneMaps: Bool = false) {
        self.toneMaps = toneMaps || color?.isHighDynamicRange == true
        if let profile, profile.count <= limit, let transform = Self.transform(profile) {
            way = .profile(transform)
        } else if let color, !color.isSRGB {
            let table = TransferTable.of(color.transfer)
            way = .light(Self.light(color, table), table)
        } else {
            way = .none
        }
    }

    /// Returns a converter for bitmaps of half floats.
    static func ofSRGB() -> HighBitDepthConverter { HighBitDepthConverter(color: nil, profile: nil, limit: 0) }

    deinit { if case .profile(let transform) = way { cmsDeleteTransform(transform) } }

    private static func light(_ color: SourceColor, _ table: TransferTable?) -> cpixels_light {
        var light = cpixels_light()
        light.transfer = table?.values
        light.is_hlg = color.transfer == .hlg
        light.tables = LightTables.shared.tables
        let matrix = color.matrixToSRGB
        withUnsafeMutableBytes(of: &light.matrix) { bytes in matrix.withUnsafeBytes { bytes.copyMemory(from: $0) } }
        let weights = color.luminanceWeights
        withUnsafeMutableBytes(of: &light.luminance) { bytes in weights.withUnsafeBytes { bytes.copyMemory(from: $0) } }
        return light
    }

    // lcms composes these by macros: float << 22 | colour space << 16 | extra << 7 | channels << 3 | bytes.
    private static let rgba: cmsUInt32Number = 1 << 22 | 4 << 16 | 1 << 7 | 3 << 3 | 4
    private static let grayOfRGBA: cmsUInt32Number = 1 << 22 | 3 << 16 | 3 << 7 | 1 << 3 | 4
    private static let noCache: cmsUInt32Number = 0x0040

    private static func transform(_ data: Data) -> cmsHTRANSFORM? {
        guard let profile = ColorProfile.open(data) else { return nil }
        defer { cmsCloseProfile(profile) }
        let space = cmsGetColorSpace(profile)
        guard space == cmsSigRgbData || space == cmsSigGrayData, let target = cmsCreate_sRGBProfile() else {
            return nil
        }
        defer { cmsCloseProfile(target) }
        let input = space == cmsSigRgbData ? rgba : grayOfRGBA
        // Alpha is preserved: when it converts in place, lcms does not write it.
        return cmsCreateTransform(profile, input, target, rgba, cmsUInt32Number(INTENT_PERCEPTUAL), noCache)
    }

    /// Converts in place to sRGB numbers of extended range, straight alpha.
    func extend(_ pixels: UnsafeMutablePointer<Float>, count: Int) {
        switch way {
        case .none: break
        case .profile(let transform): cmsDoTransform(transform, pixels, pixels, cmsUInt32Number(count))
        case .light(var light, _):
            cpixels_codes_to_light(pixels, count, &light)
            cpixels_light_to_codes(pixels, count, light.tables)
        }
    }

    /// Converts to RGBA of 8 bits with straight alpha; high dynamic range is tone-mapped. The floats are overwritten.
    func narrow(_ pixels: UnsafeMutablePointer<Float>, to levels: UnsafeMutablePointer<UInt8>, count: Int) {
        guard case .light(var light, _) = way else {
            extend(pixels, count: count)
            guard toneMaps else { return cpixels_codes_to_levels(pixels, levels, count) }
            let tables = LightTables.shared.tables
            cpixels_srgb_codes_to_light(pixels, count, tables)
            return cpixels_light_to_levels(pixels, levels, count, true, tables)
        }
        cpixels_codes_to_light(pixels, count, &light)
        cpixels_light_to_levels(pixels, levels, count, toneMaps, light.tables)
    }
}
