import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing
import WebImageLoading

/// What is told of loads that refresh what is cached.
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

    @Test func `Nothing newer is told, and the end says where the picture came from`() async {
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

    @Test func `What is in memory comes first, then the news`() async {
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

    @Test func `The same bytes without a 304 are nothing newer either`() async {
        let harness = RefreshHarness("old")
        await harness.load()
        let recording = LoadRecording()
        let words = await words(harness, recording)
        #expect(words.suffix(4) == ["asked", "downloaded 3", "not modified", "delivered memory"])
    }

    @Test func `A refresh that fails ends with the failure`() async {
        let harness = RefreshHarness("old", etag: "1")
        await harness.load()
        harness.server.edit { $0.error = WebImageError(.timedOut, "too slow") }
        let recording = LoadRecording()
        let words = await words(harness, recording, results: 2)
        #expect(words.contains("interim memory") && words.last == "failed 2100")
    }

    @Test func `Without anything cached it is an ordinary load with one start`() async {
        let harness = RefreshHarness("new", etag: "1")
        let recording = LoadRecording()
        let words = await words(harness, recording)
        #expect(words.filter { $0.hasPrefix("started") }.count == 1)
        #expect(!words.contains { $0.hasPrefix("interim") } && words.last == "delivered none")
        #expect(words.filter { $0.hasPrefix("memory missed") }.count == 1)
    }
}
