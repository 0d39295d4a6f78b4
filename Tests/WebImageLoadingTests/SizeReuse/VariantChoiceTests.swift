import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache
@testable import WebImageLoading
@testable import WebImageModel

/// The decision about images of other sizes, for all combinations, against rules that are written down a second time here.
@Suite struct VariantChoiceTests {
    private enum Fit: CaseIterable {
        case full, inside, covering, stretched

        func options(_ side: Int) -> ImageDecodeOptions {
            var options = ImageDecodeOptions()
            if self != .full { options.thumbnailPixelSize = ImageSize(width: Double(side), height: Double(side)) }
            options.preserveAspectRatio = self != .stretched
            options.thumbnailCovers = self == .covering
            return options
        }
    }

    private let coder = PlainCoder()
    private static let sides = [32, 48, 64, 96, 200, 700]
    private static let source = (width: 601, height: 407)
    /// None, one that commutes with scaling, one that does not, and a crop.
    private let chains: [LoadPlan.Chain] = [
        LoadPlan.Chain([]),
        LoadPlan.Chain([FlippingTransformer(horizontal: true, vertical: false)]),
        LoadPlan.Chain([BlurTransformer(radius: 2)]),
        LoadPlan.Chain([CroppingTransformer(rect: ImageRect(x: 0, y: 0, width: 20, height: 20))]),
    ]

    /// The upright size that a decoder makes of the file.
    private func decoded(_ options: ImageDecodeOptions, _ orientation: ImageOrientation) throws -> (
        width: Int, height: Int
    ) {
        var properties = ImageProperties(format: .png, width: Self.source.width, height: Self.source.height)
        properties.orientation = orientation
        let plan = try DecodePlan.make(for: properties, options: options)
        return orientation.swapsSides ? (plan.height, plan.width) : (plan.width, plan.height)
    }

    private func variant(
        _ options: ImageDecodeOptions,
        _ orientation: ImageOrientation,
        _ chain: LoadPlan.Chain,
        isExact: Bool = true,
        isFirstFrame: Bool = false
    ) throws -> ImageVariant {
        let size = try decoded(options, orientation)
        let (width, height) = Self.source
        return ImageVariant(
            key: "\(size)",
            size: size,
            sourceSize: orientation.swapsSides ? (height, width) : (width, height),
            sourceHash: 1,
            kind: ImageVariant.Kind(options, coder: coder, transformerKey: chain.key),
            isFirstFrame: isFirstFrame,
            isExact: isExact
        )
    }

    /// Whether one is square as the other is, or neither. Variants are square, or have the shape of the source, which is not.
    private func isAlike(_ variant: ImageVariant, _ size: (width: Int, height: Int)) -> Bool {
        (variant.width == variant.height) == (size.width == size.height)
    }

    /// Whether one side is long enough.
    private func suffices(_ available: Int, _ wanted: Int) -> Bool {
        available == wanted || Double(available) >= 1.5 * Double(wanted)
    }

    @Test(arguments: [
        ImageOrientation.up, .upMirrored, .down, .downMirrored, .leftMirrored, .right, .rightMirrored, .left,
    ])
    func
        `No result is too small, of another size or shape than a decode, or of other transformers, and none is missed`(
            _ orientation: ImageOrientation
        ) throws
    {
        var counts = (scaled: 0, previews: 0, none: 0, wrong: 0)
        for (wantedIndex, wanted) in chains.enumerated() {
            for (index, chain) in chains.enumerated() {
                // The fit of a variant varies with its size.
                let variants = try Self.sides.enumerated().map { number, side in
                    let fit = Fit.allCases[(number + 1 + index) % 3 + 1]
                    return try variant(fit.options(side), orientation, chain, isExact: number != 2)
                }.sorted { $0.width * $0.height < $1.width * $1.height }
                let sets = index == wantedIndex ? Array(0..<(1 << variants.count)) : [(1 << variants.count) - 1]
                for fit in Fit.allCases {
                    for side in Self.sides {
                        let options = fit.options(side)
                        let size = try decoded(options, orientation)
                        let request = VariantRequest(options, coder: coder, wanted)
                        for set in sets {
                            let present = variants.enumerated().filter { set & 1 << $0.offset != 0 }.map(\.element)
                            let choice = request.choose(among: variants) { variant in
                                present.first { $0.key == variant.key }
                            }
                            let usable = present.filter {
                                $0.isExact && index == wantedIndex && index < 2 && fit != .full
                                    && suffices($0.width, size.width) && suffices($0.height, size.height)
                            }
                            let shown = present.filter { index == wantedIndex && isAlike($0, size) }
                            switch choice {
                            case .scale(let found, let variant, let width, let height):
                                counts.scaled += 1
                                let isRight =
                                    (width, height) == size && found.key == variant.key
                                    && usable.contains { $0.key == variant.key }
                                    && usable.allSatisfy { $0.width * $0.height >= variant.width * variant.height }
                                if !isRight { counts.wrong += 1 }
                            case .preview(let found, let variant):
                                counts.previews += 1
                                let isRight =
                                    usable.isEmpty && found.key == variant.key
                                    && shown.contains { $0.key == variant.key }
                                if !isRight { counts.wrong += 1 }
                            case .none:
                                counts.none += 1
                                if !usable.isEmpty || !shown.isEmpty { counts.wrong += 1 }
                            }
                        }
                    }
                }
            }
        }
        #expect(counts.wrong == 0)
        #expect(counts.scaled > 1000 && counts.previews > 1000 && counts.none > 200, "\(counts)")
    }

    /// The same for the record of an original's entry on disk, which is what another process knows.
    @Test(arguments: [
        ImageOrientation.up, .upMirrored, .down, .downMirrored, .leftMirrored, .right, .rightMirrored, .left,
    ])
    func `From the record on disk the same images are chosen, under the keys that they were stored with`(
        _ orientation: ImageOrientation
    ) throws {
        let directory = TemporaryDirectory()
        let cache = ImageCache(directory: directory.path("cache"))
        let manager = WebImageManager(cache: cache, loader: FakeLoader(), pipeline: Pipeline())
        let url = try #require(URL(string: "http://host.test/a.png?x=1"))
        func plan(_ options: ImageDecodeOptions, _ chain: LoadPlan.Chain) -> LoadPlan {
            let context = WebImageContext.with {
                $0.sizeReuse = .disk
                $0.thumbnailPixelSize = options.thumbnailPixelSize
                $0.preserveAspectRatio = options.preserveAspectRatio
                $0.thumbnailCovers = options.thumbnailCovers
                if let transformer = chain.first { $0.imageTransformer = .transformer(transformer) }
            }
            let load = manager.resolve(url, [], context)
            let key = manager.cacheKey(for: url, context: context)
            return manager.plan(url: url, originalKey: url.absoluteString, resultKey: key, load)
        }
        var counts = (scaled: 0, previews: 0, none: 0, wrong: 0)
        let all = try chains.enumerated().flatMap { index, chain in
            try Self.sides.enumerated().map { number, side in
                let options = Fit.allCases[(number + 1 + index) % 3 + 1].options(side)
                let plan = plan(options, chain)
                let variant = try variant(options, orientation, chain, isExact: number != 2)
                let record = StoredVariant(
                    size: (variant.width, variant.height),
                    sourceSize: (variant.sourceWidth, variant.sourceHeight),
                    box: options.thumbnailPixelSize,
                    fit: !options.preserveAspectRatio ? .stretched : options.thumbnailCovers ? .covering : .inside,
                    kind: try #require(plan.result.value.variantKind),
                    isExact: variant.isExact
                )
                #expect(plan.key(of: record) == plan.cacheKey && plan.result.value.readsVariants)
                return (record: try #require(StoredVariant(line: record.line)), chain: index, key: plan.cacheKey)
            }
        }
        for (wantedIndex, wanted) in chains.enumerated() {
            for fit in Fit.allCases {
                for side in Self.sides {
                    let options = fit.options(side)
                    let (plan, size) = (plan(options, wanted), try decoded(options, orientation))
                    let request = VariantRequest(plan.decode.options, coder: plan.decode.coder, plan.chain)
                    for set in 0..<(1 << Self.sides.count) {
                        // Of all chains at once, of which those of the others must make no difference.
                        let present = all.enumerated().filter { set & 1 << ($0.offset % Self.sides.count) != 0 }
                            .map(\.element)
                        let found = plan.variants(.init(variants: present.map(\.record), sourceHash: 1))
                        let own = present.filter { $0.chain == wantedIndex && $0.key != plan.cacheKey }
                        let usable = own.filter {
                            $0.record.isExact && wantedIndex < 2 && fit != .full
                                && suffices($0.record.width, size.width) && suffices($0.record.height, size.height)
                        }
                        let shown = own.filter {
                            ($0.record.width == $0.record.height) == (size.width == size.height)
                        }
                        var isRight = Set(found.map(\.key)) == Set(own.compactMap(\.key))
                        switch request.choose(among: found, find: { _ in true }) {
                        case .scale(_, let variant, let width, let height):
                            counts.scaled += 1
                            isRight = isRight && (width, height) == size && usable.contains { $0.key == variant.key }
                        case .preview(_, let variant):
                            counts.previews += 1
                            isRight = isRight && usable.isEmpty && shown.contains { $0.key == variant.key }
                        case .none:
                            counts.none += 1
                            isRight = isRight && usable.isEmpty && shown.isEmpty
                        }
                        if !isRight { counts.wrong += 1 }
                    }
                }
            }
        }
        #expect(counts.wrong == 0)
        #expect(counts.scaled > 1000 && counts.previews > 1000 && counts.none > 200, "\(counts)")
    }

    private func choice(_ variant: ImageVariant, _ options: ImageDecodeOptions) -> VariantChoice<Bool> {
        VariantRequest(options, coder: coder, LoadPlan.Chain([])).choose(among: [variant]) { _ in true }
    }

    private func isScaled(_ variant: ImageVariant, _ options: ImageDecodeOptions) -> Bool {
        if case .scale = choice(variant, options) { return true }
        return false
    }

    private enum Note: OptionKey { static let defaultValue = 0 }

    @Test func `Images of other options are not used, except options that do not change pixels`() throws {
        let other: [(inout ImageDecodeOptions) -> Void] = [
            { $0.pixelFormat = .bgra8Premultiplied }, { $0.decodeToHDR = true }, { $0.scalingQuality = .fast },
            { $0.page = 1 }, { $0.rawDevelopment = .full }, { $0.videoTime = 1 }, { $0.formatHint = .png },
            { $0.values[Note.self] = 1 },
        ]
        let same: [(inout ImageDecodeOptions) -> Void] = [
            { $0.scaleFactor = 2 }, { $0.refusesDamagedData = true }, { $0.requiresAnimation = true },
            { $0.preloadsAllFrames = true }, { $0.decodeFirstFrameOnly = true },
            { $0.limits.maximumPixelCount = 1_000_000 },
        ]
        let wanted = Fit.inside.options(100)
        func variant(_ change: (inout ImageDecodeOptions) -> Void) throws -> ImageVariant {
            var options = Fit.inside.options(300)
            change(&options)
            let normal = try self.variant(Fit.inside.options(300), .up, LoadPlan.Chain([]))
            return ImageVariant(
                key: "k",
                size: (normal.width, normal.height),
                sourceSize: Self.source,
                sourceHash: 1,
                kind: ImageVariant.Kind(options, coder: coder, transformerKey: "")
            )
        }
        for (number, change) in other.enumerated() {
            guard case .none = choice(try variant(change), wanted) else {
                Issue.record("option \(number)")
                continue
            }
        }
        for (number, change) in same.enumerated() { #expect(isScaled(try variant(change), wanted), "option \(number)") }
        guard case .none = choice(try variant { $0.limits.maximumColorProfileByteCount = 1 }, wanted) else {
            Issue.record("color profiles")
            return
        }
        // What is not one of the two lists, and not about sizes, is compared as a whole.
        let sizes = ["thumbnailPixelSize", "preserveAspectRatio", "thumbnailCovers", "scaleDownLimitBytes"]
        let all = Mirror(reflecting: ImageDecodeOptions()).children.count
        #expect(all == other.count + same.count + sizes.count)
    }

    @Test func `A byte limit that reduces the result, or a source above the limits, needs a decode`() throws {
        let variant = try variant(Fit.inside.options(300), .up, LoadPlan.Chain([]))
        var options = Fit.inside.options(100)
        options.scaleDownLimitBytes = 100 * 68 * 4
        #expect(isScaled(variant, options))
        options.scaleDownLimitBytes -= 4
        #expect(!isScaled(variant, options))
    }

    @Test func `The first frame of an animation serves only loads of a first frame, and others as a preview`() throws {
        let variant = try variant(Fit.inside.options(300), .up, LoadPlan.Chain([]), isFirstFrame: true)
        var options = Fit.inside.options(100)
        #expect(!isScaled(variant, options))
        if case .preview = choice(variant, options) {} else { Issue.record("no preview") }
        options.decodeFirstFrameOnly = true
        #expect(isScaled(variant, options))
    }

    @Test(arguments: [
        (8, 4, false), (8, 5, true), (1, 1, true), (2, 2, false), (300, 187, true), (300, 186, false), (3, 2, true),
    ])
    func `A preview has the shape of the result, but for rounding`(_ width: Int, _ height: Int, _ isShown: Bool) {
        // The result has 400 × 250 pixels.
        let variant = ImageVariant(
            key: "k",
            size: (width, height),
            sourceSize: (1600, 1000),
            sourceHash: 1,
            kind: ImageVariant.Kind(ImageDecodeOptions(), coder: coder, transformerKey: "")
        )
        let options = Fit.inside.options(400)
        if case .preview = choice(variant, options) { #expect(isShown) } else { #expect(!isShown) }
    }

    @Test func `Another coder's images are not used`() throws {
        let variant = try variant(Fit.inside.options(300), .up, LoadPlan.Chain([]))
        let request = VariantRequest(Fit.inside.options(100), coder: PlainCoder(), LoadPlan.Chain([]))
        guard case .none = request.choose(among: [variant], find: { _ in true }) else {
            Issue.record("used")
            return
        }
    }
}
