import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.addressSanitizer)) struct ImageSourceTests {
    private func url(_ name: String) -> URL { URL(string: "http://host.test/\(name).jpg")! }

    private func widths(_ widths: Int...) -> ImageSource {
        .candidates(widths.map { (url("\($0)"), .width($0)) })
    }

    private func choice(
        _ source: ImageSource,
        _ width: Double?,
        _ density: Double = 1,
        lowData: Bool = false,
        cached: [Int] = []
    )
        -> String?
    {
        let cached = Set(cached.map { url("\($0)") })
        let chosen = source.choose(width: width, density: density, lowData: lowData) { cached.contains($0.url) }
        return chosen.map { String($0.url.lastPathComponent.dropLast(4)) }
    }

    @Test func `The smallest candidate that is wide enough is chosen, or the widest`() {
        let source = widths(640, 320, 1280)
        let wanted =
            [1: "320", 320: "320", 320.4: "320", 321: "640", 640: "640", 1000: "1280", 5000: "1280"] as [Double: String]
        for (width, name) in wanted { #expect(choice(source, width) == name, "\(width)") }
        #expect(choice(source, nil) == "1280", "full size")
        #expect(source.candidates.map(\.size) == [.width(320), .width(640), .width(1280)])
    }

    @Test func `The smallest candidate that is dense enough is chosen`() {
        let source = ImageSource.candidates([(url("3"), .density(3)), (url("1"), .density(1)), (url("2"), .density(2))])
        #expect([1, 1.5, 2, 2.5, 4].map { choice(source, 100, $0) } == ["1", "2", "2", "3", "3"])
    }

    @Test func `To save data the next smaller one is chosen`() {
        let source = widths(320, 640, 1280)
        #expect([100, 500, 1000, 5000].map { choice(source, $0, lowData: true) } == ["320", "320", "640", "640"])
    }

    @Test func `A cached one that is big enough is chosen instead, but not a smaller one`() {
        let source = widths(320, 640, 1280)
        #expect(choice(source, 300, cached: [1280]) == "1280")
        #expect(choice(source, 300, cached: [1280, 640]) == "640")
        #expect(choice(source, 500, cached: [320]) == "640")
        #expect(choice(source, 500, lowData: true, cached: [1280]) == "1280")
    }

    @Test func `Sizes that are not positive, of another kind, or given twice are ignored`() {
        let source = ImageSource.candidates([
            (url("0"), .width(0)), (url("a"), .width(9)), (url("b"), .width(9)), (url("c"), .density(2)),
        ])
        #expect(source.candidates.map(\.url) == [url("a")])
        let dense = ImageSource.candidates([
            (url("a"), .density(.nan)), (url("b"), .density(-1)), (url("c"), .density(1)),
        ])
        #expect(dense.candidates.map(\.url) == [url("c")])
        #expect(choice(.candidates([]), 5) == nil)
    }

    @Test func `There is a larger one than any but the last`() {
        let source = widths(320, 640)
        #expect(source.hasLarger(than: url("320")) && !source.hasLarger(than: url("640")))
        #expect(!source.hasLarger(than: url("other")) && !source.hasLarger(than: nil))
    }

    @Test func `A manager loads the best candidate, or a larger one from memory or disk`() async throws {
        let photo = [UInt8](try Fixtures.data("JPEG/photo.jpg"))
        let harness = try EndToEndHarness { _ in .response(body: photo) }
        let urls = [160, 320, 480].map { harness.server.url("/\($0).jpg") }
        var source = ImageSource.candidates(zip(urls, [160, 320, 480]).map { ($0, .width($1)) })
        let context = WebImageContext.with { $0.thumbnailPixelSize = ImageSize(width: 200, height: 200) }
        let manager = harness.manager
        #expect(await manager.url(for: source, context: context) == urls[1])
        _ = try await manager.image(with: urls[2])
        #expect(await manager.url(for: source, context: context) == urls[2], "in memory")
        await harness.cache.clear(.memory)
        #expect(await manager.url(for: source, context: context) == urls[2], "on disk")
        #expect(manager.knownURL(for: source, context: context, density: 1, lowData: false) == urls[2])
        let image = try await manager.image(with: source, context: context)
        #expect(image.pixelWidth == 200 && harness.server.requestCount() == 1)
        await harness.cache.clear(.all)
        source.lowData = true
        #expect(await manager.url(for: source, context: context) == urls[0])
        await #expect(throws: WebImageError.self) { try await manager.image(with: ImageSource.candidates([])) }
    }
}
