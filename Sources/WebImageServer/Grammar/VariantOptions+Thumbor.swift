import WebImage

/// thumbor's filters.
extension VariantOptions {
    /// Applies a filter.
    mutating func apply(_ filter: ThumborFilter) throws(ServerError) {
        switch filter.name {
        case "quality", "format", "max_bytes", "max_age", "strip_exif", "strip_icc": try applyEncoding(filter)
        case "upscale", "no_upscale", "stretch", "proportion", "focal", "rotate": try applyGeometry(filter)
        case "blur", "sharpen", "brightness", "contrast", "saturation", "grayscale": try applyEffect(filter)
        case "fill": try applyFill(filter)
        case "background_color":
            try filter.checkCount(1...1)
            background = .color(try filter.color(0))
        case "watermark":
            try filter.checkCount(4...6)
            watermark = try VariantWatermark(filter)
        default:
            throw ThumborFilter.unsupported.contains(filter.name)
                ? .unsupportedOption(filter.name) : .unknownOption(filter.name)
        }
    }

    private mutating func applyEncoding(_ filter: ThumborFilter) throws(ServerError) {
        let count = filter.name.hasPrefix("strip") ? 0 : 1
        try filter.checkCount(count...count)
        switch filter.name {
        case "quality": quality = min(try filter.integer(0, in: 0...Int(Int32.max)), 100)
        case "format":
            let formats: [String: ImageFormat] = [
                "png": .png, "jpeg": .jpeg, "jpg": .jpeg, "gif": .gif, "webp": .webp, "avif": .avif, "heic": .heic,
                "heif": .heic,
            ]
            guard let format = formats[filter.arguments[0].lowercased()] else { throw filter.invalid("unknown format") }
            self.format = format
        case "max_bytes": maxBytes = try filter.integer(0, in: 0...Int.max)
        case "max_age": maxAge = try filter.integer(0, in: 0...Int(Int32.max))
        case "strip_exif": stripMetadata = true
        default: stripColorProfile = true
        }
    }

    private mutating func applyGeometry(_ filter: ThumborFilter) throws(ServerError) {
        let count = ["proportion", "focal", "rotate"].contains(filter.name) ? 1 : 0
        try filter.checkCount(count...count)
        switch filter.name {
        case "upscale": enlarge = true
        case "no_upscale": enlarge = false
        case "stretch": if resizingType == .fill { resizingType = .force }
        case "proportion":
            zoomWidth = try filter.number(0, in: Double.leastNonzeroMagnitude...1)
            zoomHeight = zoomWidth
        case "focal":
            guard let region = ThumborReader.region(filter.arguments[0]) else {
                throw filter.invalid("expected LEFTxTOP:RIGHTxBOTTOM")
            }
            if region.left != region.right, region.top != region.bottom { focalRegion = region }
        default:
            // thumbor rotates counter-clockwise, after everything else.
            let angle = try filter.integer(0, in: -1_000_000...1_000_000)
            guard angle % 90 == 0 else { throw filter.invalid("expected a multiple of 90") }
            resultRotation = ((360 - angle % 360) % 360 + resultRotation) % 360
        }
    }

    private mutating func applyEffect(_ filter: ThumborFilter) throws(ServerError) {
        switch filter.name {
        case "blur":
            try filter.checkCount(1...2)
            let radius = try filter.integer(0, in: 1...Int(Int32.max))
            let sigma = filter.arguments.count > 1 ? try filter.number(1, in: 0...1e6) : 0
            blur = sigma > 0 ? sigma : Double(radius)
        case "sharpen":
            try filter.checkCount(3...3)
            let amount = try filter.number(0, in: -1e6...1e6)
            let radius = try filter.number(1, in: 0...1e6)
            sharpen = amount > 0 ? (radius > 0 ? radius : 1) : 0
        case "grayscale":
            try filter.checkCount(0...0)
            colorEffects.append(.grayscale)
        default:
            try filter.checkCount(1...1)
            if filter.name == "saturation" {
                colorEffects.append(.saturation(try filter.number(0, in: -1e6...1e6)))
                return
            }
            let percent = Double(try filter.integer(0, in: -100...100))
            let factor = (100 + percent) / 100
            colorEffects.append(filter.name == "brightness" ? .brightness(percent / 100) : .contrast(factor * factor))
        }
    }

    /// Extends the image to the size; with a second argument, also behind its transparent pixels.
    private mutating func applyFill(_ filter: ThumborFilter) throws(ServerError) {
        try filter.checkCount(1...2)
        let colour: VariantBackground? =
            switch filter.arguments[0] {
            case "auto": .meanColor
            case "blur": .blurredImage
            case "transparent": nil
            default: .color(try filter.color(0))
            }
        extend.isEnabled = true
        extend.background = colour
        if filter.flag(1) { background = colour }
    }
}

extension VariantWatermark {
    /// `URL,X,Y,TRANSPARENCY[,WIDTH[,HEIGHT]]`, the last three in percent.
    fileprivate init(_ filter: ThumborFilter) throws(ServerError) {
        self.init()
        source = filter.arguments[0]
        position = .axes(x: try Self.placement(filter, 1), y: try Self.placement(filter, 2))
        opacity = 1 - Double(try filter.integer(3, in: 0...100)) / 100
        widthScale = try Self.scale(filter, 4)
        heightScale = try Self.scale(filter, 5)
    }

    private static func placement(_ filter: ThumborFilter, _ index: Int) throws(ServerError) -> Placement {
        let text = filter.arguments[index]
        if text == "center" { return .center }
        if text == "repeat" { return .repeated }
        let isPart = text.hasSuffix("p")
        // -0 is at the far edge.
        let isFromEnd = text.hasPrefix("-")
        guard let number = Int32(isPart ? text.dropLast() : text[...]), number > .min else {
            throw filter.invalid("expected a number, a percentage, center or repeat")
        }
        let distance = Int(abs(number))
        return isPart
            ? .part(Double(distance) / 100, fromEnd: isFromEnd) : .pixels(distance, fromEnd: isFromEnd)
    }

    private static func scale(_ filter: ThumborFilter, _ index: Int) throws(ServerError) -> Double {
        guard filter.arguments.indices.contains(index), filter.arguments[index].lowercased() != "none" else { return 0 }
        return Double(try filter.integer(index, in: 0...10_000)) / 100
    }
}
