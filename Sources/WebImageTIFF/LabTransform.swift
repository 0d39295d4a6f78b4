import CLCMS
import WebImageCodecs

/// From CIE L*a*b* of eight bits, as ICC profiles have it, to sRGB. For one thread.
final class LabTransform {
    private let handle: cmsHTRANSFORM

    // The macros that lcms composes of (colour space << 16 | channels << 3 | bytes) do not reach Swift.
    private static let lab8: cmsUInt32Number = 10 << 16 | 3 << 3 | 1
    private static let rgb8: cmsUInt32Number = 4 << 16 | 3 << 3 | 1

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init() throws(WebImageError) {
        let source = cmsCreateLab4Profile(nil)
        let target = cmsCreate_sRGBProfile()
        defer {
            if let source { cmsCloseProfile(source) }
            if let target { cmsCloseProfile(target) }
        }
        guard let source, let target,
            let handle = cmsCreateTransform(
                source,
                Self.lab8,
                target,
                Self.rgb8,
                cmsUInt32Number(INTENT_PERCEPTUAL),
                0
            )
        else { throw WebImageError(.outOfMemory, "no memory for a conversion of colours") }
        self.handle = handle
    }

    deinit { cmsDeleteTransform(handle) }

    /// Converts pixels of three bytes in place.
    func convert(_ pixels: UnsafeMutableRawPointer, count: Int) {
        cmsDoTransform(handle, pixels, pixels, cmsUInt32Number(count))
    }
}
