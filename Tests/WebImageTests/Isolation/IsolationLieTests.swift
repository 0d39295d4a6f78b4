import FoundationEssentials
import TestSupport
import Testing

@testable import WebImage

/// Workers that were taken over, and answer what they like.
@Suite(
    .enabled(if: IsolationHarness.isSupported, "this system does not confine processes, or this is a sanitized build"),
    .timeLimit(.minutes(3))
)
struct IsolationLieTests {
    @Test(arguments: [
        ("garbage", "nonsense"), ("long", "too long"), ("nothing", "memory"), ("changeable", "can still be changed"),
        ("small", "64 bytes"), ("rows", "rows are"), ("offset", "the offset is"), ("narrow", "rows are 4"),
        ("huge", "bigger than"), ("side", "width is 0"), ("socket fd", "memory"), ("other", "another question"),
        ("kind", "another question"), ("elsewhere", "64 bytes"), ("endless", "too long"), ("far", "the offset is"),
        ("wide", "70000x1 is bigger"), ("frames", "10001 frames"), ("crash", "stopped: it called ????"),
        ("empty with memory", "crashed"), ("heavy", "not 64"), ("announced heavy", "not 64"),
        ("announced nothing", "announces no memory"), ("announced changeable", "can still be changed"),
        ("announced huge", "bigger than"), ("announced small", "64 bytes"),
        ("announced socket", "can still be changed"), ("announced twice", "there is no answer"),
        ("empty", "crashed"), ("deaf", "crashed"),
    ])
    func `A lie is an error for its picture alone`(name: String, message: String) async throws {
        let coder = IsolationHarness.coder { ($0.maximumDecodeCount, $0.maximumWorkerCount) = (1, 1) }
        let error = try #require(await IsolationHarness.error(name, coder))
        #expect(error.code == .decoderCrashed, "\(error)")
        #expect(error.message.contains(message), "\(error)")
        #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 32 })
        #expect(IsolationHarness.isRight(try await IsolationHarness.decode("picture", coder).get()))
    }

    @Test func `An answer that nobody asked for is not taken for that of the next picture`() async throws {
        // The lie is about the first request: no other test has used these workers.
        let coder = IsolationHarness.coder { ($0.maximumWorkerCount, $0.maximumDecodeCount) = (1, 400) }
        let first = try await IsolationHarness.decode("twice", coder).get()
        #expect(first.pixelWidth == 4 && !IsolationHarness.isRight(first))
        for _ in 0..<3 { #expect(IsolationHarness.isRight(try await IsolationHarness.decode("picture", coder).get())) }
    }

    @Test func `No lie leaves a descriptor behind`() async throws {
        let isolation = IsolationHarness.isolation { ($0.maximumWorkerCount, $0.maximumDecodeCount) = (1, 1) }
        let clock = ManualClock()
        let pool = WorkerPool(isolation, .sealed, clock: clock.source, delay: ManualDelays().source)
        let tell: @Sendable (String) async -> Void = { name in
            _ = await valueOnThread {
                try? pool.perform(.decode(ImageDecodeOptions()), IsolationHarness.picture(name), seconds: 20)
            }
        }
        await tell("garbage")
        let before = IsolationHarness.descriptorCount
        let names = [
            "changeable", "small", "socket fd", "other", "elsewhere", "huge", "garbage", "long", "crash", "heavy",
            "empty with memory", "endless", "far", "announced heavy", "announced nothing", "announced changeable",
            "announced huge",
            "announced socket", "announced twice",
        ]
        for name in names {
            for _ in 0..<4 { await tell(name) }
            // Other tests open and close some meanwhile.
            #expect(IsolationHarness.descriptorCount < before + 4, "\(name)")
        }
    }
}
