import CLCMS
package import FoundationEssentials

/// The colour space of an image that is described by code points or numbers instead of an ICC profile.
package struct SourceColor: Sendable, Hashable {
    /// The transfer function from numbers to light.
    package enum Transfer: Sendable, Hashable {
        /// sRGB's curve; also used for the television curves, whose images are made to be seen on such screens.
        case sRGB
        /// Linear light; 1 is reference white.
        case linear
        /// light = number ^ gamma
        case gamma(Double)
        /// SMPTE ST 2084: absolute luminances.
        case pq
        /// Hybrid log-gamma of BT.2100, here for a screen of 1 000 cd/m².
        case hlg
    }

    package var transfer: Transfer
    /// x and y of white, red, green, blue.
    package var chromaticities: [Double]

    package init(transfer: Transfer, chromaticities: [Double]) {
        self.transfer = transfer
        self.chromaticities = chromaticities.count == 8 ? chromaticities : Self.sRGBChromaticities
    }

    /// Creates a colour space from the code points of ITU-T H.273. Unspecified and unknown ones count as sRGB.
    package init(primaries: Int, transferCharacteristics: Int) {
        chromaticities = Self.chromaticities(ofPrimaries: primaries)
        transfer =
            switch transferCharacteristics {
            case 4: .gamma(2.2)
            case 5: .gamma(2.8)
            case 8: .linear
            case 16: .pq
            case 17: .gamma(2.6)
            case 18: .hlg
            default: .sRGB
            }
    }

    package static let sRGBChromaticities = [0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06]
    private static let bt2020 = [0.3127, 0.329, 0.708, 0.292, 0.17, 0.797, 0.131, 0.046]
    private static let displayP3 = [0.3127, 0.329, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06]

    private static func chromaticities(ofPrimaries code: Int) -> [Double] {
        switch code {
        case 4: [0.310, 0.316, 0.67, 0.33, 0.21, 0.71, 0.14, 0.08]
        case 5: [0.3127, 0.329, 0.64, 0.33, 0.29, 0.60, 0.15, 0.06]
        case 6, 7: [0.3127, 0.329, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070]
        case 8: [0.310, 0.316, 0.681, 0.319, 0.243, 0.692, 0.145, 0.049]
        case 9: bt2020
        case 11: [0.314, 0.351, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060]
        case 12: displayP3
        case 22: [0.3127, 0.329, 0.630, 0.340, 0.295, 0.605, 0.155, 0.077]
        default: sRGBChromaticities
        }
    }

    /// A Boolean value that indicates whether the image is intended to have light brighter than reference white.
    package var isHighDynamicRange: Bool { transfer == .pq || transfer == .hlg }

    /// Returns whether pixels must not be rounded to 8 bits before the conversion to sRGB: those of high dynamic range, and linear light, whose dark
    /// tones are close together.
    package func needsHighBitDepthRows(bitsPerComponent: Int) -> Bool {
        isHighDynamicRange || transfer == .linear && bitsPerComponent > 8
    }

    /// A Boolean value that indicates whether the primaries are sRGB's, or so close (those of PAL) that browsers treat them as equal.
    var hasSRGBPrimaries: Bool { zip(chromaticities, Self.sRGBChromaticities).allSatisfy { abs($0 - $1) <= 0.011 } }

    /// A Boolean value that indicates whether the colour space is sRGB.
    package var isSRGB: Bool { transfer == .sRGB && hasSRGBPrimaries }

    /// A display name; nil for sRGB.
    package var name: String? {
        guard !isSRGB else { return nil }
        let space =
            switch chromaticities {
            case Self.bt2020: isHighDynamicRange ? "BT.2100" : "BT.2020"
            case Self.displayP3: "Display P3"
            default: hasSRGBPrimaries ? "sRGB" : "RGB"
            }
        return switch transfer {
        case .sRGB: space
        case .linear: space + " linear"
        case .gamma(let gamma): space + " gamma \(gamma)"
        case .pq: space + " PQ"
        case .hlg: space + " HLG"
        }
    }

    /// Returns an equivalent ICC profile for rows of 8 bits; nil for sRGB, and if no profile can express the colour space.
    package func makeProfile() -> Data? {
        guard !isSRGB else { return nil }
        let sRGB: [Double] = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
        let curve: OpaquePointer? =
            switch transfer {
            case .sRGB: cmsBuildParametricToneCurve(nil, 4, sRGB)
            case .linear: cmsBuildGamma(nil, 1)
            case .gamma(let gamma): cmsBuildGamma(nil, gamma)
            case .pq, .hlg: nil
            }
        guard let curve else { return nil }
        defer { cmsFreeToneCurve(curve) }
        func point(_ index: Int) -> cmsCIExyY {
            cmsCIExyY(x: chromaticities[index], y: chromaticities[index + 1], Y: 1)
        }
        var white = point(0)
        var primaries = cmsCIExyYTRIPLE(Red: point(2), Green: point(4), Blue: point(6))
        let curves: [OpaquePointer?] = [curve, curve, curve]
        guard let profile = cmsCreateRGBProfile(&white, &primaries, curves) else { return nil }
        defer { cmsCloseProfile(profile) }
        var count: cmsUInt32Number = 0
        guard cmsSaveProfileToMem(profile, nil, &count) != 0, count > 0 else { return nil }
        var data = Data(count: Int(count))
        let isSaved = data.withUnsafeMutableBytes { cmsSaveProfileToMem(profile, $0.baseAddress, &count) }
        return isSaved != 0 ? data : nil
    }
}
