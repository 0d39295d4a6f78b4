import WebImage

extension VariantOptions {
    /// A text that names everything about the pixels of the result: equal options have equal texts, in every process, and options that
    /// may make other pixels another one. Only what differs from the defaults is named, in a fixed order.
    package var pixelKey: String {
        let options = canonical
        var key = KeyText()
        key.add("rt", options.resizingType.rawValue, unless: "fit")
        key.add("w", options.width.key, unless: "")
        key.add("h", options.height.key, unless: "")
        key.add("adaptive", options.isAdaptive)
        key.add("mw", options.minWidth, unless: 0)
        key.add("mh", options.minHeight, unless: 0)
        key.add("zx", options.zoomWidth, unless: 1)
        key.add("zy", options.zoomHeight, unless: 1)
        key.add("dpr", options.dpr, unless: 1)
        key.add("el", options.enlarge)
        if options.extend.isEnabled { key.add("ex", options.extend.key) }
        if options.extendAspectRatio.isEnabled { key.add("exar", options.extendAspectRatio.key) }
        key.add("g", options.gravity.key, unless: VariantGravity().key)
        let crop = options.crop
        key.add("c", "\(crop.width),\(crop.height),\(crop.gravity?.key ?? "")", unless: "0.0,0.0,")
        if let focal = options.focalRegion {
            key.add("focal", "\(focal.left),\(focal.top),\(focal.right),\(focal.bottom)")
        }
        if let threshold = options.trim.threshold {
            let trim = options.trim
            key.add(
                "t",
                "\(threshold),\(trim.color.key),\(trim.equalHorizontal),\(trim.equalVertical),\(trim.usesDistance)"
            )
        }
        let padding = options.padding
        key.add("pd", "\(padding.top),\(padding.right),\(padding.bottom),\(padding.left)", unless: "0,0,0,0")
        if let autoRotate = options.autoRotate { key.add("ar", "\(autoRotate)") }
        key.add("rot", options.rotate, unless: 0)
        key.add("flx", options.flipHorizontal)
        key.add("fly", options.flipVertical)
        key.add("turn", options.resultRotation, unless: 0)
        if let background = options.background { key.add("bg", background.key) }
        key.add("bl", options.blur, unless: 0)
        key.add("sh", options.sharpen, unless: 0)
        key.add("pix", options.pixelate, unless: 0)
        key.add("colors", options.colorEffects.map(\.key).joined(separator: ","), unless: "")
        if options.watermark.opacity > 0 { key.add("wm", options.watermark.key) }
        if let side = options.limits.resultSide { key.add("mrd", "\(side)") }
        if let thumbnail = options.enforceThumbnail { key.add("eth", "\(thumbnail)") }
        if let preservesHDR = options.preserveHDR { key.add("ph", "\(preservesHDR)") }
        return key.text
    }

    /// A text that names everything about the bytes of the result: ``pixelKey``, and how the pixels are encoded.
    package var resultKey: String {
        let options = canonical
        var key = KeyText(text: pixelKey)
        if let format = options.format { key.add("f", "\(format.rawValue)") }
        key.add("q", options.quality, unless: 0)
        let qualities = options.formatQuality.sorted { $0.key.rawValue < $1.key.rawValue }
        key.add("fq", qualities.map { "\($0.key.rawValue)=\($0.value)" }.joined(separator: ","), unless: "")
        key.add("mb", options.maxBytes, unless: 0)
        if let strips = options.stripMetadata { key.add("sm", "\(strips)") }
        if let keeps = options.keepCopyright { key.add("kcr", "\(keeps)") }
        if let strips = options.stripColorProfile { key.add("scp", "\(strips)") }
        let skipped = options.skipProcessing.map(\.rawValue).sorted()
        key.add("skp", skipped.map { "\($0)" }.joined(separator: ","), unless: "")
        key.add("raw", options.raw)
        let limits = options.limits
        let frames = [limits.animationFrames, limits.animationFramePixels, limits.sourcePixels, limits.sourceBytes]
        key.add("limits", frames.map { $0.map(String.init) ?? "" }.joined(separator: ","), unless: ",,,")
        // A client's text is last, so that it cannot look like something else.
        if let cacheBuster = options.cacheBuster { key.add("cb", cacheBuster) }
        return key.text
    }
}

/// Options as `name:value` with slashes between.
private struct KeyText {
    var text = ""

    mutating func add(_ name: String, _ value: String) {
        if !text.isEmpty { text += "/" }
        text += name + ":" + value
    }

    mutating func add<Value: Equatable>(_ name: String, _ value: Value, unless usual: Value) {
        if value != usual { add(name, "\(value)") }
    }

    mutating func add(_ name: String, _ flag: Bool) {
        if flag { add(name, "1") }
    }
}

extension VariantLength {
    fileprivate var key: String {
        switch self {
        case .automatic: ""
        case .original: "orig"
        case .pixels(let pixels): "\(pixels)"
        }
    }
}

extension VariantGravity {
    fileprivate var key: String { "\(kind.rawValue),\(xOffset),\(yOffset)" }
}

extension VariantExtension {
    fileprivate var key: String { gravity.key + "," + (background?.key ?? "") }
}

extension VariantTrim.Color {
    fileprivate var key: String {
        switch self {
        case .topLeft: "nowe"
        case .bottomRight: "soea"
        case .given(let color): color.hexString
        }
    }
}

extension VariantBackground {
    fileprivate var key: String {
        switch self {
        case .color(let color): color.hexString
        case .meanColor: "mean"
        case .blurredImage: "blur"
        }
    }
}

extension VariantColorEffect {
    fileprivate var key: String {
        switch self {
        case .brightness(let amount): "brightness=\(amount)"
        case .contrast(let factor): "contrast=\(factor)"
        case .saturation(let factor): "saturation=\(factor)"
        case .grayscale: "grayscale"
        }
    }
}

extension VariantWatermark {
    fileprivate var key: String {
        let place =
            switch position {
            case .gravity(let kind): kind.rawValue
            case .repeated: "re"
            case .axes(let x, let y): x.key + "," + y.key
            }
        let numbers = "\(opacity),\(xOffset),\(yOffset),\(widthScale),\(heightScale)"
        // URLs may contain slashes and colons: their length tells where they end.
        let url = source.map { "\($0.utf8.count)=\($0)" } ?? ""
        return [place, numbers, url].joined(separator: ",")
    }
}

extension VariantWatermark.Placement {
    fileprivate var key: String {
        switch self {
        case .pixels(let pixels, let isFromEnd): (isFromEnd ? "-" : "") + "\(pixels)"
        case .part(let part, let isFromEnd): (isFromEnd ? "-" : "") + "\(part)p"
        case .center: "ce"
        case .repeated: "re"
        }
    }
}
