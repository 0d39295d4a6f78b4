import CLCMS
import FoundationEssentials

/// Converts rows of one layout from the colours of an embedded profile to sRGB. Thread-safe.
final class ColorTransform: @unchecked Sendable {
    // Sendable because the handle is never changed after init, and lcms transforms without a cache are reentrant.
    private let handle: cmsHTRANSFORM
    /// The sRGB colours of the 256 levels, for grey pixels that a decoder returns as `rgba8`.
    private let levels: [UInt8]?

    private init(handle: cmsHTRANSFORM, isGrayAsRGBA: Bool = false) {
        self.handle = handle
        guard isGrayAsRGBA else {
            levels = nil
            return
        }
        var converted = [UInt8](repeating: 0, count: 256 * 3)
        cmsDoTransform(handle, (0...255).map { UInt8($0) }, &converted, 256)
        levels = converted
    }

    deinit { cmsDeleteTransform(handle) }

    /// Converts `count` pixels; `rgba8` stays four bytes and keeps its alpha, all others become `rgb8`.
    /// Source and destination may be the same memory for `rgb8` and `rgba8`.
    func convert(_ source: UnsafeRawPointer, to destination: UnsafeMutableRawPointer, count: Int) {
        guard let levels else { return cmsDoTransform(handle, source, destination, cmsUInt32Number(count)) }
        let source = source.assumingMemoryBound(to: UInt8.self)
        let destination = destination.assumingMemoryBound(to: UInt8.self)
        levels.withUnsafeBufferPointer { levels in
            for offset in stride(from: 0, to: count * 4, by: 4) {
                let level = Int(source[offset]) * 3
                destination[offset + 3] = source[offset + 3]
                destination[offset] = levels[level]
                destination[offset + 1] = levels[level + 1]
                destination[offset + 2] = levels[level + 2]
            }
        }
    }
}

extension ColorTransform {
    /// The result for a profile: a transform, or none if the colours need no conversion.
    private enum Outcome {
        case none
        case transform(ColorTransform)
    }

    private struct Entry {
        let hash: UInt64
        let profile: Data
        let layout: ScanlineLayout
        let outcome: Outcome
    }

    /// The recently used profiles, newest last: the images of a site mostly share a few, and creating a transform costs as much as
    /// converting a small image.
    private static let recent = Lock<[Entry]>([])

    /// Returns the transform for an embedded profile; nil when the colours are sRGB already (within one level), or when the profile is
    /// broken, does not fit the layout, or is longer than `limit` bytes.
    static func shared(profile: Data?, layout: ScanlineLayout, limit: Int) -> ColorTransform? {
        guard let profile, profile.count <= limit, layout != .bgra8Premultiplied, layout != .rgbaFloat else {
            return nil
        }
        let hash = profile.withUnsafeBytes { Hashing.xxh3($0) }
        let known = recent.withLock { list -> Outcome? in
            let index = list.lastIndex { $0.hash == hash && $0.layout == layout && $0.profile == profile }
            guard let index else { return nil }
            let entry = list.remove(at: index)
            list.append(entry)
            return entry.outcome
        }
        let outcome = known ?? make(profile: profile, layout: layout)
        if known == nil {
            let entry = Entry(hash: hash, profile: profile, layout: layout, outcome: outcome)
            let dropped = recent.withLock { list -> Entry? in
                list.append(entry)
                return list.count > 8 ? list.removeFirst() : nil
            }
            _ = dropped
        }
        if case .transform(let transform) = outcome { return transform }
        return nil
    }

    // Swift cannot import the macros from which lcms composes formats (colour space << 16 | extra << 7 | channels << 3 | bytes).
    private static let gray8: cmsUInt32Number = 3 << 16 | 1 << 3 | 1
    private static let rgb8: cmsUInt32Number = 4 << 16 | 3 << 3 | 1
    private static let rgba8: cmsUInt32Number = 4 << 16 | 1 << 7 | 3 << 3 | 1
    private static let cmyk8: cmsUInt32Number = 6 << 16 | 4 << 3 | 1
    private static let noCache: cmsUInt32Number = 0x0040
    private static let copyAlpha: cmsUInt32Number = 0x0400_0000

    private static func make(profile data: Data, layout: ScanlineLayout) -> Outcome {
        let (input, space): (cmsUInt32Number, cmsColorSpaceSignature)
        switch layout {
        case .gray8: (input, space) = (gray8, cmsSigGrayData)
        case .rgb8: (input, space) = (rgb8, cmsSigRgbData)
        case .rgba8: (input, space) = (rgba8, cmsSigRgbData)
        case .cmyk8: (input, space) = (cmyk8, cmsSigCmykData)
        case .bgra8Premultiplied, .rgbaFloat: return .none
        }
        guard let profile = ColorProfile.open(data) else { return .none }
        defer { cmsCloseProfile(profile) }
        // Grey with alpha has the layout rgba8; the profile identifies it, since PNG allows grey profiles only for grey images.
        let isGrayAsRGBA = layout == .rgba8 && cmsGetColorSpace(profile) == cmsSigGrayData
        guard isGrayAsRGBA || cmsGetColorSpace(profile) == space, let target = cmsCreate_sRGBProfile() else {
            return .none
        }
        defer { cmsCloseProfile(target) }
        let hasAlpha = layout == .rgba8 && !isGrayAsRGBA
        let handle = cmsCreateTransform(
            profile,
            isGrayAsRGBA ? gray8 : input,
            target,
            hasAlpha ? rgba8 : rgb8,
            cmsUInt32Number(INTENT_PERCEPTUAL),
            noCache | (hasAlpha ? copyAlpha : 0)
        )
        guard let handle else { return .none }
        let transform = ColorTransform(handle: handle, isGrayAsRGBA: isGrayAsRGBA)
        return transform.changesNothing(layout) ? .none : .transform(transform)
    }

    /// Returns whether a grid of sample colours is unchanged, within one level: many files embed sRGB itself.
    private func changesNothing(_ layout: ScanlineLayout) -> Bool {
        guard layout != .cmyk8 else { return false }
        if let levels { return levels.indices.allSatisfy { abs(Int(levels[$0]) - $0 / 3) <= 1 } }
        let steps = layout == .gray8 ? [] : stride(from: 0, through: 255, by: 17).map { UInt8($0) }
        var colors: [UInt8] = []
        if layout == .gray8 {
            for level in 0...255 { colors.append(UInt8(level)) }
        } else {
            for red in steps {
                for green in steps {
                    for blue in steps { colors += layout == .rgba8 ? [red, green, blue, 255] : [red, green, blue] }
                }
            }
        }
        let inputBytes = layout.bytesPerPixel
        let outputBytes = max(inputBytes, 3)
        let count = colors.count / inputBytes
        var converted = [UInt8](repeating: 255, count: count * outputBytes)
        convert(colors, to: &converted, count: count)
        return converted.indices.allSatisfy { index in
            let source = layout == .gray8 ? colors[index / 3] : colors[index]
            return abs(Int(source) - Int(converted[index])) <= 1
        }
    }
}
