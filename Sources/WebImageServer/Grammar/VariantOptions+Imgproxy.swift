import WebImage

/// The options of imgproxy's URLs, grouped as in ``ImgproxyOption``.
extension VariantOptions {
    mutating func applySize(_ option: ImgproxyOption, _ arguments: ImgproxyArguments) throws(ServerError) {
        switch option {
        case .resize:
            try arguments.checkCount(8)
            if let type = arguments.value(0) { try setResizingType(type, arguments) }
            if let rest = arguments.dropFirst() { try setSize(rest) }
        case .size:
            try arguments.checkCount(7)
            try setSize(arguments)
        case .resizingType: try setResizingType(try arguments.single(), arguments)
        case .width: width = try Self.length(try arguments.single(), arguments)
        case .height: height = try Self.length(try arguments.single(), arguments)
        case .minWidth: minWidth = try arguments.pixels(try arguments.single())
        case .minHeight: minHeight = try arguments.pixels(try arguments.single())
        case .zoom:
            try arguments.checkCount(2)
            zoomWidth = try arguments.factor(arguments.values[0])
            zoomHeight = arguments.values.count > 1 ? try arguments.factor(arguments.values[1]) : zoomWidth
        case .dpr: dpr = try arguments.factor(try arguments.single())
        case .enlarge: enlarge = try arguments.flag()
        case .extend: try extend.set(arguments)
        default: try extendAspectRatio.set(arguments)
        }
    }

    private mutating func setResizingType(
        _ name: String,
        _ arguments: ImgproxyArguments
    ) throws(ServerError) {
        guard let type = VariantResizingType(rawValue: name), type != .cover else {
            throw arguments.invalid("unknown resizing type")
        }
        resizingType = type
    }

    private mutating func setSize(_ arguments: ImgproxyArguments) throws(ServerError) {
        if let text = arguments.value(0) { width = try Self.length(text, arguments) }
        if let text = arguments.value(1) { height = try Self.length(text, arguments) }
        if let text = arguments.value(2) { enlarge = ImgproxyArguments.flag(text) }
        if arguments.value(3) != nil, let rest = arguments.dropFirst(3) { try extend.set(rest) }
    }

    private static func length(_ text: String, _ arguments: ImgproxyArguments) throws(ServerError) -> VariantLength {
        let pixels = try arguments.pixels(text)
        return pixels > 0 ? .pixels(pixels) : .automatic
    }

    mutating func applyPart(_ option: ImgproxyOption, _ arguments: ImgproxyArguments) throws(ServerError) {
        switch option {
        case .gravity: try arguments.change(&gravity)
        case .crop: try crop.set(arguments)
        case .trim: try trim.set(arguments)
        case .padding: try padding.set(arguments)
        case .autoRotate: autoRotate = try arguments.flag()
        case .rotate:
            let angle = try arguments.integer(try arguments.single(), in: Int.min...Int.max) % 360
            guard angle % 90 == 0 else { throw arguments.invalid("expected a multiple of 90") }
            rotate = angle < 0 ? angle + 360 : angle
        default:
            try arguments.checkCount(2)
            if let text = arguments.value(0) { flipHorizontal = ImgproxyArguments.flag(text) }
            if let text = arguments.value(1) { flipVertical = ImgproxyArguments.flag(text) }
        }
    }

    mutating func applyEffect(_ option: ImgproxyOption, _ arguments: ImgproxyArguments) throws(ServerError) {
        switch option {
        case .background: try setBackground(arguments)
        case .blur: blur = try arguments.positive(try arguments.single())
        case .sharpen: sharpen = try arguments.positive(try arguments.single())
        case .pixelate: pixelate = try arguments.pixels(try arguments.single())
        default: try watermark.set(arguments)
        }
    }

    private mutating func setBackground(_ arguments: ImgproxyArguments) throws(ServerError) {
        switch arguments.values.count {
        case 1:
            background = try arguments.value(0).map { text throws(ServerError) in .color(try arguments.color(text)) }
        case 3:
            var levels: [UInt8] = []
            for text in arguments.values { levels.append(UInt8(try arguments.integer(text, in: 0...255))) }
            background = .color(ImageColor(red8: levels[0], green8: levels[1], blue8: levels[2]))
        default: throw arguments.invalid("expected a colour, three components, or nothing")
        }
    }

    mutating func applyEncoding(_ option: ImgproxyOption, _ arguments: ImgproxyArguments) throws(ServerError) {
        switch option {
        case .stripMetadata: stripMetadata = try arguments.flag()
        case .keepCopyright: keepCopyright = try arguments.flag()
        case .stripColorProfile: stripColorProfile = try arguments.flag()
        case .preserveHDR: preserveHDR = try arguments.flag()
        case .enforceThumbnail: enforceThumbnail = try arguments.flag()
        case .quality: quality = try arguments.integer(try arguments.single(), in: 0...100)
        case .formatQuality:
            guard arguments.values.count.isMultiple(of: 2) else { throw arguments.invalid("a quality is missing") }
            for index in stride(from: 0, to: arguments.values.count, by: 2) {
                let format = try arguments.format(arguments.values[index])
                let quality = try arguments.integer(arguments.values[index + 1], in: 0...100)
                formatQuality[format] = quality > 0 ? quality : nil
            }
        case .maxBytes: maxBytes = try arguments.integer(try arguments.single(), in: 0...Int.max)
        default: format = try arguments.format(try arguments.single())
        }
    }

    mutating func applyAnswer(_ option: ImgproxyOption, _ arguments: ImgproxyArguments) throws(ServerError) {
        switch option {
        case .skipProcessing: for name in arguments.values { skipProcessing.insert(try arguments.format(name)) }
        case .raw: raw = try arguments.flag()
        case .cachebuster:
            let text = try arguments.single()
            cacheBuster = text.isEmpty ? nil : text
        case .returnAttachment: returnAttachment = try arguments.flag()
        default:
            try arguments.checkCount(2)
            var bytes = Array(arguments.values[0].utf8)
            if let text = arguments.value(1), ImgproxyArguments.flag(text) {
                guard let decoded = URLBytes.base64Decoded(bytes, allowsPadding: true) else {
                    throw arguments.invalid("expected base64")
                }
                bytes = decoded
            }
            guard let text = URLBytes.text(bytes) else { throw arguments.invalid("control characters in a file name") }
            filename = text.isEmpty ? nil : text
        }
    }
}

extension VariantExtension {
    fileprivate mutating func set(_ arguments: ImgproxyArguments) throws(ServerError) {
        try arguments.checkCount(4)
        isEnabled = ImgproxyArguments.flag(arguments.values[0])
        if let rest = arguments.dropFirst() { try rest.change(&gravity, allowsSmart: false) }
    }
}

extension VariantCrop {
    fileprivate mutating func set(_ arguments: ImgproxyArguments) throws(ServerError) {
        width = try arguments.positive(arguments.values[0])
        if arguments.values.count > 1 { height = try arguments.positive(arguments.values[1]) }
        guard let rest = arguments.dropFirst(2) else { return }
        var changed = gravity ?? VariantGravity()
        try rest.change(&changed)
        gravity = changed
    }
}

extension VariantTrim {
    fileprivate mutating func set(_ arguments: ImgproxyArguments) throws(ServerError) {
        try arguments.checkCount(4)
        threshold = try arguments.value(0).map { text throws(ServerError) in try arguments.number(text) }
        color = try arguments.value(1).map { text throws(ServerError) in .given(try arguments.color(text)) } ?? .topLeft
        if let text = arguments.value(2) { equalHorizontal = ImgproxyArguments.flag(text) }
        if let text = arguments.value(3) { equalVertical = ImgproxyArguments.flag(text) }
    }
}

extension VariantPadding {
    /// As in CSS: a missing right or bottom side is as the top, a missing left as the right.
    fileprivate mutating func set(_ arguments: ImgproxyArguments) throws(ServerError) {
        try arguments.checkCount(4)
        if let text = arguments.value(0) { top = try arguments.pixels(text) }
        right = try arguments.value(1).map { text throws(ServerError) in try arguments.pixels(text) } ?? top
        bottom = try arguments.value(2).map { text throws(ServerError) in try arguments.pixels(text) } ?? top
        left = try arguments.value(3).map { text throws(ServerError) in try arguments.pixels(text) } ?? right
    }
}

extension VariantWatermark {
    fileprivate mutating func set(_ arguments: ImgproxyArguments) throws(ServerError) {
        try arguments.checkCount(7)
        opacity = try arguments.number(arguments.values[0], in: 0...1)
        if let name = arguments.value(1) { position = try Self.position(name, arguments) }
        if let text = arguments.value(2) { xOffset = try arguments.number(text) }
        if let text = arguments.value(3) { yOffset = try arguments.number(text) }
        if let text = arguments.value(4) {
            widthScale = try arguments.factor(text)
            heightScale = widthScale
        }
    }

    private static func position(_ name: String, _ arguments: ImgproxyArguments) throws(ServerError) -> Position {
        if name == "re" { return .repeated }
        // Pro: as on a chessboard.
        if name == "ch" { throw .unsupportedOption("watermark.ch") }
        guard let kind = VariantGravity.Kind(rawValue: name), kind != .smart, kind != .focusPoint else {
            throw arguments.invalid("unknown position")
        }
        return .gravity(kind)
    }
}
