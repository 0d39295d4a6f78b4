import WebImage

/// The options that change pixels, in the order given.
enum TransformArguments {
    static let specs: [OptionSpec] = [
        OptionSpec(
            "--resize",
            value: "WxH[:MODE]",
            "scale to W by H pixels: fit (with bars, the default), fill, cover"
        ),
        OptionSpec("--crop", value: "X,Y,W,H", "crop to W by H pixels, X from the left and Y from the top"),
        OptionSpec(
            "--rotate",
            value: "DEG[:cut]",
            "rotate counter-clockwise by degrees; the canvas grows, or crops with :cut"
        ),
        OptionSpec("--flip", value: "h|v", "mirror left to right (h) or top to bottom (v)"),
        OptionSpec(
            "--round",
            value: "R[:CORNERS[:W:COLOR]]",
            "round corners (all, or tl,tr,bl,br) by R pixels, with a border of W pixels"
        ),
        OptionSpec("--blur", value: "R", "blur with a radius of R pixels"),
        OptionSpec(
            "--tint",
            value: "#AARRGGBB[:MODE]",
            "fill with a colour; MODE such as multiply, source-in by default"
        ),
        OptionSpec("--grayscale", "convert to shades of grey"),
        OptionSpec("--sepia", "apply a sepia tone"),
        OptionSpec("--invert", "invert the colours"),
        OptionSpec("--brightness", value: "V", "multiply by V; 1 changes nothing, 0 is black"),
        OptionSpec("--contrast", value: "V", "multiply by V around the middle; 1 changes nothing, 0 is grey"),
        OptionSpec("--saturation", value: "V", "multiply by V; 1 changes nothing, 0 removes the colour"),
        OptionSpec("--hue", value: "DEG", "rotate the hues around the colour wheel by degrees"),
    ]

    /// Returns the transformer of an option; nil for other options.
    static func transformer(_ name: String, _ value: String) throws -> (any ImageTransformer)? {
        switch name {
        case "--resize": try resize(value)
        case "--crop": try crop(value)
        case "--rotate":
            try rotate(value)
        case "--flip": try flip(value)
        case "--round": try round(value)
        case "--blur": BlurTransformer(radius: try length(value, of: name))
        case "--tint": try tint(value)
        default: try matrix(name, value).map(ColorMatrixTransformer.init)
        }
    }

    private static func matrix(_ name: String, _ value: String) throws -> ColorMatrix? {
        switch name {
        case "--grayscale": .grayscale
        case "--sepia": .sepia
        case "--invert": .inverted
        case "--brightness": .brightness(try factor(value, of: name))
        case "--contrast": .contrast(try factor(value, of: name))
        case "--saturation": .saturation(try factor(value, of: name))
        case "--hue": .hueRotation(try number(value, of: name, "an angle in degrees such as 90") * .pi / 180)
        default: nil
        }
    }

    private static func resize(_ text: String) throws -> ResizingTransformer {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let modes: [String: ImageScaleMode] = ["fill": .fill, "fit": .aspectFit, "cover": .aspectFill]
        guard parts.count <= 2, let mode = parts.count == 2 ? modes[parts[1]] : .aspectFit else {
            throw UsageError("--resize takes WxH, WxH:fit, WxH:fill or WxH:cover, not '\(text)'")
        }
        return ResizingTransformer(size: try ImageArguments.size(parts[0], of: "--resize"), scaleMode: mode)
    }

    private static func crop(_ text: String) throws -> CroppingTransformer {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard numbers.count == 4, numbers.allSatisfy({ (0...16_777_216).contains($0) }), numbers[2] > 0, numbers[3] > 0
        else { throw UsageError("--crop takes X,Y,W,H in pixels such as 10,20,300,200, not '\(text)'") }
        return CroppingTransformer(
            rect: ImageRect(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        )
    }

    private static func flip(_ text: String) throws -> FlippingTransformer {
        switch text {
        case "h": FlippingTransformer(horizontal: true, vertical: false)
        case "v": FlippingTransformer(horizontal: false, vertical: true)
        default: throw UsageError("--flip takes h or v, not '\(text)'")
        }
    }

    private static func rotate(_ text: String) throws -> RotationTransformer {
        let cuts = text.hasSuffix(":cut")
        let angle = cuts ? String(text.dropLast(4)) : text
        let degrees = try number(angle, of: "--rotate", "an angle in degrees such as 90 or 30:cut")
        return RotationTransformer(angle: degrees * .pi / 180, fitSize: !cuts)
    }

    private static func round(_ text: String) throws -> RoundCornerTransformer {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let radius = try length(parts[0], of: "--round")
        let names: [String: RectCorner] = [
            "all": .allCorners, "tl": .topLeft, "tr": .topRight, "bl": .bottomLeft, "br": .bottomRight,
        ]
        let corners = parts.count > 1 ? parts[1].split(separator: ",").map { names[String($0)] } : [.allCorners]
        guard !corners.isEmpty, !corners.contains(nil), [1, 2, 4].contains(parts.count) else {
            throw UsageError("--round takes R, R:CORNERS such as 8:tl,br, or R:CORNERS:WIDTH:COLOR, not '\(text)'")
        }
        let round = corners.compactMap(\.self).reduce(into: RectCorner()) { $0.formUnion($1) }
        guard parts.count == 4 else { return RoundCornerTransformer(radius: radius, corners: round) }
        guard let color = ImageColor(hex: parts[3]) else {
            throw UsageError("--round takes a colour such as #FF0000 for the border, not '\(parts[3])'")
        }
        return RoundCornerTransformer(
            radius: radius,
            corners: round,
            borderWidth: try length(parts[2], of: "--round"),
            borderColor: color
        )
    }

    private static func tint(_ text: String) throws -> TintTransformer {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let color = ImageColor(hex: parts[0]) else {
            throw UsageError("--tint takes a colour such as #FF0000 or #80FF0000, not '\(text)'")
        }
        guard parts.count == 2 else { return TintTransformer(color: color) }
        guard let mode = ImageBlendMode.allCases.first(where: { dashed("\($0)") == parts[1].lowercased() }) else {
            let names = ImageBlendMode.allCases.map { dashed("\($0)") }.joined(separator: ", ")
            throw UsageError("--tint has no mode '\(parts[1])'; it has \(names)")
        }
        return TintTransformer(color: color, blendMode: mode)
    }

    /// Returns "source-in" for "sourceIn".
    private static func dashed(_ name: String) -> String {
        name.reduce(into: "") { text, letter in
            text += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
        }
    }

    private static func number(_ text: String, of option: String, _ kind: String) throws -> Double {
        guard let number = Double(text), number.isFinite, abs(number) <= 1e6 else {
            throw UsageError("\(option) takes \(kind), not '\(text)'")
        }
        return number
    }

    /// Parses a radius: above 0, since 0 does nothing.
    private static func length(_ text: String, of option: String) throws -> Double {
        guard let number = Double(text), number > 0, number <= 65_535 else {
            throw UsageError("\(option) takes a radius in pixels above 0, not '\(text)'")
        }
        return number
    }

    private static func factor(_ text: String, of option: String) throws -> Double {
        guard let number = Double(text), (0...1000).contains(number) else {
            throw UsageError("\(option) takes a factor from 0 to 1000, not '\(text)'")
        }
        return number
    }
}

/// Makes a thumbnail of the result of other options: it fits into a box, and is never enlarged.
struct ThumbnailTransformer: ImageTransformer {
    let box: ImageSize

    var transformerKey: String { "ThumbnailTransformer(\(box.width)x\(box.height))" }

    func transform(_ image: Image) throws(WebImageError) -> Image {
        guard let size = size(of: ImageExtent(image)) else { return image }
        return try image.resized(to: size, scaleMode: .fill)
    }

    func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        guard let size = size(of: input) else { return TransformMemoryNeed(output: input, workingByteCount: 0) }
        return ResizingTransformer(size: size, scaleMode: .fill).memoryNeed(of: input)
    }

    /// Returns the size of the thumbnail, in points; nil if the image is small enough.
    private func size(of extent: ImageExtent) -> ImageSize? {
        let (width, height) = (Double(extent.width), Double(extent.height))
        let factor = min(box.width / width, box.height / height)
        guard factor < 1 else { return nil }
        return ImageSize(
            width: max((width * factor).rounded(), 1) / extent.scale,
            height: max((height * factor).rounded(), 1) / extent.scale
        )
    }
}
