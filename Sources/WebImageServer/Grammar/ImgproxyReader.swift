import WebImage

/// Applies the options of one path, and the presets that they name.
struct ImgproxyReader {
    private let grammar: ImgproxyGrammar
    private let now: Int64
    /// The presets that are being applied, from the outermost.
    private var activePresets: [String] = []
    private var count = 0
    /// The options so far.
    private(set) var options: VariantOptions

    init(grammar: ImgproxyGrammar, options: VariantOptions, now: Int64) {
        self.grammar = grammar
        self.options = options
        self.now = now
    }

    /// Applies an option.
    mutating func apply(_ arguments: ImgproxyArguments) throws(ServerError) {
        guard let option = ImgproxyOption(name: arguments.name) else {
            throw ImgproxyOption.namesOfPro.contains(arguments.name)
                ? .unsupportedOption(arguments.name) : .unknownOption(arguments.name)
        }
        count += 1
        guard count <= ImgproxyGrammar.maximumOptions else { throw .invalidURL("too many options") }
        switch option {
        case .preset: try apply(presets: arguments.values)
        case .expires: try applyExpires(arguments)
        case .maxSourceResolution, .maxSourceFileSize, .maxAnimationFrames, .maxAnimationFrameResolution,
            .maxResultDimension:
            guard grammar.configuration.allowsLimits else { throw .forbiddenOption(arguments.name) }
            try options.limits.apply(option, arguments)
        case .stripMetadata, .keepCopyright, .stripColorProfile, .preserveHDR, .enforceThumbnail, .quality,
            .formatQuality, .maxBytes, .format:
            try options.applyEncoding(option, arguments)
        case .skipProcessing, .raw, .cachebuster, .filename, .returnAttachment:
            try options.applyAnswer(option, arguments)
        case .background, .blur, .sharpen, .pixelate, .watermark:
            try options.applyEffect(option, arguments)
        case .gravity, .crop, .trim, .padding, .autoRotate, .rotate, .flip:
            try options.applyPart(option, arguments)
        case .resize, .size, .resizingType, .width, .height, .minWidth, .minHeight, .zoom, .dpr, .enlarge, .extend,
            .extendAspectRatio:
            try options.applySize(option, arguments)
        }
    }

    /// Applies presets one after the other. A preset within itself is left out.
    mutating func apply(presets names: [String]) throws(ServerError) {
        for name in names {
            guard let preset = grammar.presets[name] else { throw .invalidArgument(of: "preset", "unknown preset") }
            guard !activePresets.contains(name) else { continue }
            activePresets.append(name)
            for option in preset { try apply(option) }
            activePresets.removeLast()
        }
    }

    private mutating func applyExpires(_ arguments: ImgproxyArguments) throws(ServerError) {
        guard let expires = Int64(try arguments.single()) else {
            throw arguments.invalid("expected seconds since 1970")
        }
        if expires > 0, expires < now { throw .expired }
        options.expires = expires > 0 ? expires : nil
    }
}

extension VariantLimits {
    fileprivate mutating func apply(
        _ option: ImgproxyOption,
        _ arguments: ImgproxyArguments
    ) throws(ServerError) {
        let text = try arguments.single()
        switch option {
        case .maxSourceResolution: sourcePixels = try arguments.millions(text)
        case .maxSourceFileSize: sourceBytes = try arguments.integer(text, in: 0...Int.max)
        case .maxAnimationFrames: animationFrames = try arguments.integer(text, in: 1...Int.max)
        case .maxAnimationFrameResolution: animationFramePixels = try arguments.millions(text)
        default: resultSide = try arguments.pixels(text)
        }
    }
}
