import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Deliveries while an indicator is shown, and its animation meanwhile.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct IndicatorDeliveryTests {
    let bench: ViewBench
    let time = HeldTime()
    let a = ViewBench.url("a")

    enum Look: CaseIterable, Sendable { case ring, bar }

    init() throws { bench = try ViewBench() }

    private func shown() async throws -> (picture: OpaquePointer, window: TestWindow, state: ViewState) {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        return (picture, window, ViewState.of(UnsafeMutableRawPointer(picture)))
    }

    private func activity() -> ActivityIndicator {
        let indicator = ActivityIndicator()
        indicator.driver.delay.later = time.later
        return indicator
    }

    private func indicator(_ look: Look) -> any WebImageIndicator {
        if look == .ring { return activity() }
        let indicator = ProgressIndicator()
        indicator.driver.delay.later = time.later
        return indicator
    }

    @Test func `A preview leaves the indicator, and so does the next one`() async throws {
        let (picture, window, state) = try await shown()
        let indicator = activity()
        picture.imageIndicator = indicator
        try await bench.begin(picture, a, .progressiveLoad)
        time.pass(1)
        let data = try Fixtures.data("Animation/pillow.gif")
        var (last, count): (Image?, Int) = (nil, 0)
        for _ in 0..<2 {
            // The decoder decides how many bytes make another preview.
            try #require(
                await MainLoopTurns.wait {
                    count = min(count + 50, data.count - 10)
                    bench.loader.leave(data.prefix(count), a)
                    guard let image = state.paintable.content?.image, image !== last else { return false }
                    last = image
                    return true
                }
            )
            #expect(last?.metadata.isIncremental == true)
            #expect(indicator.isVisible && state.paintable.overlay != nil && state.clock.isRunning)
        }
        try await bench.end(picture, a, with: .success(data))
        #expect(!indicator.isVisible && state.paintable.overlay == nil)
        window.close()
    }

    @Test func `The cached image removes the indicator, though the refresh continues`() async throws {
        let (picture, window, state) = try await shown()
        try await bench.begin(picture, a, .waitStoreCache)
        try await bench.end(picture, a)
        picture.setImage(with: nil)
        bench.cache.memoryCache.removeAll()
        let indicator = activity()
        picture.imageIndicator = indicator
        picture.setImage(with: a, options: .refreshCached, context: bench.context)
        time.pass(1)
        #expect(indicator.isVisible, "a disk read takes time")
        #expect(await MainLoopTurns.wait { picture.latestLoadState?.result?.cacheType == .disk })
        #expect(!indicator.isVisible && state.paintable.overlay == nil && state.indicatorLoads == 0)
        #expect(picture.imageLoadOperation(in: .image) != nil)
        try #require(await bench.loader.request(of: a))
        bench.loader.end(a, with: .success(ViewBench.blue))
        #expect(await MainLoopTurns.wait { picture.imageLoadOperation(in: .image) == nil })
        #expect(!indicator.isVisible && time.count == 0)
        window.close()
    }

    @Test(arguments: Look.allCases) func `The indicator's animation is drawn some frames later`(look: Look)
        async throws
    {
        let (picture, window, _) = try await shown()
        picture.imageIndicator = indicator(look)
        try await bench.begin(picture, a)
        time.pass(1)
        await window.frames()
        let first = try window.pixels(of: UnsafeMutableRawPointer(picture))
        #expect(
            await MainLoopTurns.wait(seconds: 5) {
                guard let now = try? window.pixels(of: UnsafeMutableRawPointer(picture)) else { return false }
                return now != first
            }
        )
        try await bench.end(picture, a)
        window.close()
    }
}
