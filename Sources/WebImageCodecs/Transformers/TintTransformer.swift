import CPixels
import Glibc

/// Fills an image with a colour; see ``Image/tinted(with:blendMode:)``.
public struct TintTransformer: ImageTransformer {
    /// The colour.
    public let tintColor: ImageColor
    /// The way in which the colour is blended with the image.
    public let blendMode: ImageBlendMode
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer that fills with a colour.
    ///
    /// - Parameters:
    ///   - color: the colour.
    ///   - blendMode: how the colour is blended with the image; ``ImageBlendMode/sourceIn`` by default.
    public init(color: ImageColor, blendMode: ImageBlendMode = .sourceIn) {
        tintColor = color
        self.blendMode = blendMode
    }

    /// `SDImageTintTransformer(#aarrggbb,mode)`.
    public var transformerKey: String { "SDImageTintTransformer(\(tintColor.hexString),\(blendMode.rawValue))" }

    /// Returns the filled image.
    ///
    /// - Throws: the errors of ``Image/tinted(with:blendMode:)``.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.tinted(with: tintColor, blendMode: blendMode))
    }

    /// Returns the memory cost: the result with alpha, one row, and copies of pixels that are not upright or have more than 8 bits.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        guard tintColor.alpha > Double(Float.ulpOfOne) else {
            return TransformMemoryNeed(output: input, workingByteCount: 0)
        }
        return TransformMemoryNeed(
            output: input.making(bytesPerPixel: 4),
            workingByteCount: input.narrowUprightByteCount + input.width * 4
        )
    }
}

extension Image {
    /// Returns the image filled with a colour.
    ///
    /// - Parameters:
    ///   - color: the colour; for a transparent colour the result is this image itself, in any mode.
    ///   - blendMode: how the colour is blended with the image. ``ImageBlendMode/sourceIn`` by default: the image's shape in one colour.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    public func tinted(with color: ImageColor, blendMode: ImageBlendMode = .sourceIn) throws(WebImageError) -> Image {
        guard color.alpha > Double(Float.ulpOfOne) else { return self }
        return replacing(try uprightBitmapIn8Bits().filled(with: color, blendMode, within: effectLimits))
    }
}

extension Bitmap {
    fileprivate func filled(
        with color: ImageColor,
        _ mode: ImageBlendMode,
        within limits: ImageLimits
    ) throws(WebImageError) -> Bitmap {
        let fill = Fill(
            mode: Int32(mode.rawValue),
            color: [color.red, color.green, color.blue, color.alpha].map(Float.init)
        )
        guard !pixelFormat.hasAlpha else {
            let result = try Bitmap.allocate((width, height), .bgra8Premultiplied, within: limits)
            for row in 0..<height { fill.blend(bytes(row), result.bytes(row), width) }
            return result
        }
        let ramp = fill.ofGrays()
        if mode.isSeparable, let ramp { return try mapped(by: ramp, within: limits) }
        let result = try Bitmap.allocate((width, height), ramp == nil ? .bgra8Premultiplied : .rgb8, within: limits)
        let scratch = try ScratchBuffer(byteCount: width * 4)
        for row in 0..<height {
            let line = ramp == nil ? result.bytes(row) : scratch.bytes
            cpixels_rgb_to_bgra(bytes(row), line, width)
            fill.blend(line, line, width)
            if ramp != nil { cpixels_bgra_onto_color(line, result.bytes(row), width, 0, 0, 0) }
        }
        return result
    }

    private func mapped(by tables: Fill.Tables, within limits: ImageLimits) throws(WebImageError) -> Bitmap {
        let result = try Bitmap.allocate((width, height), .rgb8, within: limits)
        for row in 0..<height {
            cpixels_map_rgb(tables.red, tables.green, tables.blue, bytes(row), result.bytes(row), width)
        }
        return result
    }
}

/// One colour in one mode.
private struct Fill {
    let mode: Int32
    let color: [Float]

    struct Tables {
        var red: [UInt8]
        var green: [UInt8]
        var blue: [UInt8]
    }

    func blend(_ source: UnsafePointer<UInt8>, _ target: UnsafeMutablePointer<UInt8>, _ count: Int) {
        cpixels_blend_color_onto(mode, color, source, target, count)
    }

    /// Returns the results for the 256 opaque greys; nil if they do not stay opaque.
    func ofGrays() -> Tables? {
        var grays = [UInt8](repeating: 255, count: 1024)
        for gray in 0..<1024 where gray % 4 < 3 { grays[gray] = UInt8(gray / 4) }
        grays.withUnsafeMutableBufferPointer { pixels in
            guard let base = pixels.baseAddress else { return }
            blend(base, base, 256)
        }
        guard (0..<256).allSatisfy({ grays[4 * $0 + 3] == 255 }) else { return nil }
        func component(_ index: Int) -> [UInt8] { (0..<256).map { grays[4 * $0 + index] } }
        return Tables(red: component(2), green: component(1), blue: component(0))
    }
}

extension ImageBlendMode {
    /// A Boolean value that indicates whether each component of the result depends only on the same component of both inputs, and on alpha.
    fileprivate var isSeparable: Bool {
        switch self {
        case .hue, .saturation, .color, .luminosity: false
        default: true
        }
    }
}
