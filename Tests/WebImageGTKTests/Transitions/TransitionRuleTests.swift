import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK
@testable import WebImageLoading

/// When transitions run.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct TransitionRuleTests {
    let bench: ViewBench
    let url = ViewBench.url("a.bmp")

    init() throws { bench = try ViewBench() }

    struct Rule: Sendable, CustomTestStringConvertible {
        var cacheType: ImageCacheType
        var options: WebImageOptions = []
        var isPreview = false
        var isUpgrade = false
        let runs: Bool
        var testDescription: String {
            "\(cacheType) \(options.rawValue)\(isPreview ? " preview" : "")\(isUpgrade ? " upgrade" : ""): \(runs)"
        }
    }

    nonisolated static let rules: [Rule] = [
        Rule(cacheType: .none, runs: true),
        Rule(cacheType: .none, options: .queryMemoryDataSync, runs: true),
        Rule(cacheType: .none, options: .queryDiskDataSync, runs: true),
        Rule(cacheType: .disk, runs: true),
        Rule(cacheType: .disk, options: .queryMemoryData, runs: true),
        Rule(cacheType: .disk, options: .queryMemoryDataSync, runs: false),
        Rule(cacheType: .disk, options: .queryDiskDataSync, runs: false),
        Rule(cacheType: .disk, options: [.queryDiskDataSync, .forceTransition], runs: true),
        Rule(cacheType: .memory, runs: false),
        Rule(cacheType: .memory, options: .queryMemoryDataSync, runs: false),
        Rule(cacheType: .memory, options: .forceTransition, runs: true),
        Rule(cacheType: .none, isPreview: true, runs: false),
        Rule(cacheType: .none, options: .forceTransition, isPreview: true, runs: false),
        Rule(cacheType: .disk, isUpgrade: true, runs: false),
        Rule(cacheType: .none, options: .forceTransition, isUpgrade: true, runs: false),
    ]

    @Test(arguments: rules) func `A transition leads to an image that arrives asynchronously`(rule: Rule) async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let state = ViewState.of(UnsafeMutableRawPointer(picture))
        var prepared = 0
        state.transition = .fade(duration: 60)
        state.transition?.prepares = { _, _ in prepared += 1 }
        let request = ViewLoad.Request(url: url, options: rule.options, isUpgrade: rule.isUpgrade)
        let load = ViewLoad(
            request,
            context: WebImageContext(),
            slot: .image,
            number: 0,
            state: state,
            setter: { [weak state] content, _ in state?.paintable.show(content) },
            showsInPaintable: true
        )
        var metadata = ImageMetadata()
        metadata.isIncremental = rule.isPreview
        let result = WebImageResult(
            image: try Quarters.new().with(metadata: metadata),
            data: nil,
            cacheType: rule.cacheType,
            url: url,
            cacheKey: "",
            response: nil,
            metrics: nil
        )
        // The displayed image only gets more pixels.
        if rule.isUpgrade { state.shown = ShownLoad(load: load, image: result.image) }
        var isTold = false
        state.show(result, of: load) { isTold = true }
        #expect(state.paintable.transitionProgress == (rule.runs ? 0 : nil))
        #expect(prepared == (rule.runs ? 1 : 0))
        #expect(isTold, "the caller does not wait for it")
        #expect(state.paintable.content?.image === result.image)
        window.close()
    }

    /// Loads an image, and returns whether a transition began.
    private func load(_ picture: OpaquePointer, _ options: WebImageOptions = [], isHeld: Bool = false) async throws
        -> Bool
    {
        let told = Told()
        var prepared = 0
        picture.imageTransition = .fade(duration: 60)
        picture.imageTransition?.prepares = { _, _ in prepared += 1 }
        picture.setImage(with: url, options: options, context: bench.context, completed: { told.results.append($0) })
        if isHeld {
            try #require(await bench.loader.request(of: url))
            bench.loader.end(url, with: .success(ViewBench.red))
        }
        try #require(await MainLoopTurns.wait { !told.results.isEmpty })
        #expect(told.codes == [nil])
        return prepared == 1
    }

    @Test func `Images from the loader and from disk have a transition, those from memory only when forced`()
        async throws
    {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        #expect(try await load(picture, .waitStoreCache, isHeld: true))
        #expect(try await !load(picture))
        #expect(try await load(picture, .forceTransition))
        for (options, runs) in [([], true), (.queryDiskDataSync, false)] as [(WebImageOptions, Bool)] {
            bench.cache.memoryCache.removeAll()
            // Nothing may retain the image: it would be found.
            picture.setImage(with: nil, completed: nil)
            #expect(try await load(picture, options) == runs)
            #expect(picture.latestLoadState?.result?.cacheType == .disk)
        }
        #expect(bench.loader.requests.count == 1)
        window.close()
    }

    @Test func `Without a transition nothing moves`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        #expect(picture.imageTransition == nil)
        let told = Told()
        picture.setImage(
            with: url,
            options: [.forceTransition, .waitTransition],
            context: bench.context,
            completed: { told.results.append($0) }
        )
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(ViewBench.red))
        #expect(await MainLoopTurns.wait { told.codes == [nil] })
        #expect(ViewState.of(UnsafeMutableRawPointer(picture)).paintable.transitionProgress == nil)
        window.close()
    }
}
