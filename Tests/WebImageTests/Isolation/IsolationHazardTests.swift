import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import WebImage

/// Decoders that do what decoders must not, in real workers.
@Suite(
    .enabled(if: IsolationHarness.isSupported, "this system does not confine processes, or this is a sanitized build"),
    .timeLimit(.minutes(3))
)
struct IsolationHazardTests {
    struct Hazard: CustomTestStringConvertible, Sendable {
        var name: String
        var code: WebImageError.Code
        /// What the error says.
        var message: String
        var testDescription: String { name }
    }

    private static let hazards = [
        Hazard(name: "segfault", code: .decoderCrashed, message: "SIGSEGV"),
        Hazard(name: "header", code: .decoderCrashed, message: "SIGSEGV"),
        Hazard(name: "abort", code: .decoderCrashed, message: "SIGABRT"),
        Hazard(name: "trap", code: .decoderCrashed, message: "crashed"),
        Hazard(name: "stack", code: .decoderCrashed, message: "SIGSEGV"),
        Hazard(name: "allocate", code: .outOfMemory, message: "MiB"),
        Hazard(name: "passwd", code: .decoderCrashed, message: "(\"/etc/passwd\")"),
        Hazard(name: "write", code: .decoderCrashed, message: "(\"/tmp/hazard\")"),
        Hazard(name: "socket", code: .decoderCrashed, message: "socket"),
        Hazard(name: "exec", code: .decoderCrashed, message: "execve(\"/bin/true\")"),
        Hazard(name: "kill", code: .decoderCrashed, message: "kill"),
        Hazard(name: "sync", code: .decoderCrashed, message: "SIGSYS"),
        Hazard(name: "exit", code: .decoderCrashed, message: "status 3"),
    ]

    @Test(arguments: hazards)
    func `The error says what happened, and the next picture is decoded`(_ hazard: Hazard) async throws {
        let coder = IsolationHarness.coder()
        let error = try #require(await IsolationHarness.error(hazard.name, coder))
        #expect(error.code == hazard.code, "\(error)")
        #expect(error.message.contains(hazard.message), "\(error)")
        let next = await IsolationHarness.decode("picture", coder)
        #expect(IsolationHarness.isRight(try next.get()))
    }

    @Test(arguments: ["spin", "sleep"])
    func `A decode that takes too long is ended, whether it computes or waits`(name: String) async throws {
        let coder = IsolationHarness.coder { $0.maximumDecodeDuration = 0.3 }
        // The worker is there, so that the time is the decode's.
        _ = await IsolationHarness.decode("picture", coder)
        let start = ContinuousClock.now
        let error = try #require(await IsolationHarness.error(name, coder))
        #expect(error.code == .decodeTimedOut && error.message.contains("0.3 s"), "\(error)")
        #expect(ContinuousClock.now - start < .seconds(10))
        let patient = IsolationHarness.coder()
        #expect(IsolationHarness.isRight(try await IsolationHarness.decode("picture", patient).get()))
    }

    @Test func `Nothing was written by a decoder that tried to`() async {
        _ = await IsolationHarness.error("write", IsolationHarness.coder())
        #expect(access("/tmp/hazard", F_OK) != 0)
    }

    @Test func `Pictures that are decoded meanwhile do not notice`() async throws {
        let coder = IsolationHarness.coder { $0.maximumWorkerCount = 2 }
        let names = (0..<24).map { $0 % 3 == 1 ? ["segfault", "passwd", "abort", "exit"][$0 % 4] : "picture" }
        try await withThrowingTaskGroup(of: (Int, Result<Image, WebImageError>).self) { group in
            for (index, name) in names.enumerated() {
                group.addTask { (index, await IsolationHarness.decode(name, coder)) }
            }
            for try await (index, result) in group {
                if names[index] == "picture" {
                    #expect(IsolationHarness.isRight(try result.get()))
                } else {
                    #expect(throws: WebImageError.self) { try result.get() }
                }
            }
        }
    }

    @Test func `What the decoder says of the picture is the error, and its worker lives`() async throws {
        let coder = IsolationHarness.coder { $0.maximumWorkerCount = 1 }
        _ = await IsolationHarness.decode("picture", coder)
        let before = IsolationHarness.workers()
        let refused = try #require(await IsolationHarness.error("refuse", coder))
        #expect(refused.code == .badImageData && refused.message == "no [31m picture ")
        let strange = try #require(await IsolationHarness.error("strange code", coder))
        #expect(strange.code == .badImageData && strange.message == "never mind")
        #expect(!before.isEmpty && before.allSatisfy(IsolationHarness.workers().contains))
    }

    @Test func `Threads of libraries are let through`() async throws {
        let image = try await IsolationHarness.decode("thread", IsolationHarness.coder()).get()
        #expect(IsolationHarness.isRight(image))
    }

    @Test func `Bytes that are too many, or none, do not get to a worker`() async throws {
        let coder = IsolatedImageCoder(DecodeIsolation(), base: ImageCodersManager())
        var options = ImageDecodeOptions()
        options.limits.maximumEncodedByteCount = 5
        let error = #expect(throws: WebImageError.self) {
            try coder.decode(IsolationHarness.picture("picture"), options: options)
        }
        #expect(error?.limit?.name == "maximumEncodedByteCount")
        let empty = #expect(throws: WebImageError.self) { try coder.decode(Data(), options: ImageDecodeOptions()) }
        #expect(empty?.code == .badImageData)
    }

    @Test func `A long answer comes as memory`() async throws {
        let coder = IsolationHarness.coder()
        let properties = try await valueOnThread {
            Result { try coder.properties(of: IsolationHarness.picture("frames"), limits: ImageLimits()) }
        }.get()
        #expect(properties.frameCount == 20_000 && properties.frameDurations == Array(repeating: 0.25, count: 20_000))
    }
}
