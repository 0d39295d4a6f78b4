import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing
import WebImageLoading

/// Events of loads that refresh cached images.
@Suite(.tags(.threadSanitizer)) struct RefreshEventsTests {
    private func words(
        _ harness: RefreshHarness,
        _ recording: LoadRecording,
        _ options: WebImageOptions = .refreshCached,
        results: Int = 1
    ) async -> [String] {
        let context = harness.context { $0.observer = recording }
        _ = await harness.start(options, context: context).deliveries.all(atLeast: results)
        #expect(await recording.becomesOver() && recording.isOrderly)
        return recording.words
    }

    @Test func `A 304 is reported, and the end has the image's source`() async {
        let harness = RefreshHarness("old", etag: "1")
        harness.put("old", etag: "1")
        let recording = LoadRecording()
        #expect(
            await words(harness, recording) == [
                "started picture.png", "disk hit picture.png 3", "decoded 4x2 3", "stored picture.png memory",
                "memory missed absent", "interim disk", "disk hit picture.png 3", "asked", "not modified",
                "delivered disk",
            ]
        )
    }

    @Test func `A memory hit is reported first, then the changed image`() async {
        let harness = RefreshHarness("old", etag: "1")
        await harness.load()
        harness.server.publish("newer", etag: "2")
        let recording = LoadRecording()
        #expect(
            await words(harness, recording, results: 2) == [
                "started picture.png", "memory hit picture.png", "interim memory", "disk hit picture.png 3", "asked",
                "downloaded 5", "decoded 4x2 5", "stored picture.png disk", "stored picture.png memory",
                "delivered none",
            ]
        )
    }

    @Test func `The same bytes without a 304 count as unchanged, too`() async {
        let harness = RefreshHarness("old")
        await harness.load()
        let recording = LoadRecording()
        let words = await words(harness, recording)
        #expect(words.suffix(4) == ["asked", "downloaded 3", "not modified", "delivered memory"])
    }

    @Test func `A failed refresh ends with the failure`() async {
        let harness = RefreshHarness("old", etag: "1")
        await harness.load()
        harness.server.edit { $0.error = WebImageError(.timedOut, "too slow") }
        let recording = LoadRecording()
        let words = await words(harness, recording, results: 2)
        #expect(words.contains("interim memory") && words.last == "failed 2100")
    }

    @Test func `Without a cached image it is an ordinary load with one start`() async {
        let harness = RefreshHarness("new", etag: "1")
        let recording = LoadRecording()
        let words = await words(harness, recording)
        #expect(words.filter { $0.hasPrefix("started") }.count == 1)
        #expect(!words.contains { $0.hasPrefix("interim") } && words.last == "delivered none")
        #expect(words.filter { $0.hasPrefix("memory missed") }.count == 1)
    }
}
