import CLCMS
import WebImageCodecs

/// Converts CIE L*a*b* of eight bits, as in ICC profiles, to sRGB. For one thread.
final class LabTransform {
    private let handle: cmsHTRANSFORM

    // Swift cannot import the macros from which lcms composes formats (colour space << 16 | channels << 3 | bytes).
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
        else { throw WebImageError(.outOfMemory, "no memory for a colour conversion") }
        self.handle = handle
    }

    deinit { cmsDeleteTransform(handle) }

    /// Converts pixels of three bytes in place.
    func convert(_ pixels: UnsafeMutableRawPointer, count: Int) {
        cmsDoTransform(handle, pixels, pixels, cmsUInt32Number(count))
    }
}
