import CLCMS
import FoundationEssentials

/// The colour information of a PNG file.
///
/// Code points (`cICP`), an ICC profile or an sRGB chunk have precedence. Without them, a gamma that differs by more than 5 % from 1/2.2 is
/// converted, and so are primaries that differ notably from sRGB's if there is also a gamma, as in browsers. (Pillow and most thumbnailers ignore
/// both.)
struct PNGColor: Sendable, Hashable {
    /// The file's gamma, such as 0.45455.
    private(set) var gamma: Double?
    /// The white point, red, green and blue as x and y.
    private(set) var chromaticities: [Double] = []
    private(set) var isDeclaredSRGB = false
    /// The colour space of a `cICP` chunk, which has precedence over everything else.
    private(set) var coded: SourceColor?
    /// The name in the profile chunk.
    private(set) var profileName: String?

    private static let sRGBChromaticities = [0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06]

    /// Reads the chunk, if it contains colour information.
    mutating func read(_ type: UInt32, _ chunk: ByteReader) {
        switch type {
        case fourCC("gAMA"):
            guard gamma == nil, let value = chunk.bigEndian32(0) else { return }
            gamma = Double(value) / 100_000
        case fourCC("cHRM"):
            guard chromaticities.isEmpty, chunk.count >= 32 else { return }
            chromaticities = (0..<8).compactMap { chunk.bigEndian32($0 * 4).map { Double($0) / 100_000 } }
        case fourCC("sRGB"): isDeclaredSRGB = true
        case fourCC("cICP"):
            // RGB without a matrix, full range; PNG allows no other.
            guard coded == nil, let primaries = chunk.byte(0), let transfer = chunk.byte(1), chunk.byte(2) == 0,
                chunk.byte(3) == 1
            else { return }
            coded = SourceColor(primaries: Int(primaries), transferCharacteristics: Int(transfer))
        case fourCC("iCCP"):
            let name = chunk.bytes.prefix(80).prefix { $0 != 0 }
            // Latin-1 by the specification.
            profileName = String(String.UnicodeScalarView(name.map { Unicode.Scalar($0) }))
        default: break
        }
    }

    private var isSettled: Bool { coded != nil || isDeclaredSRGB || profileName != nil }

    /// The gamma to convert from; nil when there is none, it is close to the screen's, or it is invalid.
    private var unusualGamma: Double? {
        guard !isSettled, let gamma, gamma >= 0.1, gamma <= 5, abs(gamma * 2.2 - 1) > 0.05 else { return nil }
        return gamma
    }

    private var hasUnusualPrimaries: Bool {
        guard !isSettled, gamma != nil, chromaticities.count == 8 else { return false }
        return zip(chromaticities, Self.sRGBChromaticities).contains { abs($0 - $1) > 0.01 }
    }

    /// Returns whether a profile, of the file or made from gamma and primaries, converts the colours.
    func isConverted(isGray: Bool) -> Bool { profileName != nil || !isGray && hasUnusualPrimaries }

    /// Returns the gamma from which the PNG decoder converts, when nothing else needs converting.
    func decoderGamma(isGray: Bool) -> Double? { !isGray && hasUnusualPrimaries ? nil : unusualGamma }

    /// Returns a profile made from the primaries and the gamma; nil when the decoder can do without.
    func makeProfile(isGray: Bool) -> Data? {
        guard !isGray, hasUnusualPrimaries, let gamma, gamma >= 0.1, gamma <= 5 else { return nil }
        let sRGB: [Double] = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
        let curve = unusualGamma.map { cmsBuildGamma(nil, 1 / $0) } ?? cmsBuildParametricToneCurve(nil, 4, sRGB)
        guard let curve else { return nil }
        defer { cmsFreeToneCurve(curve) }
        func point(_ index: Int) -> cmsCIExyY {
            cmsCIExyY(x: chromaticities[index], y: chromaticities[index + 1], Y: 1)
        }
        var white = point(0)
        var primaries = cmsCIExyYTRIPLE(Red: point(2), Green: point(4), Blue: point(6))
        let curves: [OpaquePointer?] = [curve, curve, curve]
        guard white.y > 0.01, let profile = cmsCreateRGBProfile(&white, &primaries, curves) else { return nil }
        defer { cmsCloseProfile(profile) }
        var count: cmsUInt32Number = 0
        guard cmsSaveProfileToMem(profile, nil, &count) != 0, count > 0 else { return nil }
        var data = Data(count: Int(count))
        let saved = data.withUnsafeMutableBytes { cmsSaveProfileToMem(profile, $0.baseAddress, &count) }
        return saved != 0 ? data : nil
    }
}
