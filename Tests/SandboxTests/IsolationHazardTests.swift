import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageIsolation

/// Misbehaving decoders in real workers.
@Suite(
    .tags(.threadSanitizer),
    .enabled(if: IsolationHarness.isSupported, "this system does not confine processes, or this is a sanitized build"),
    .timeLimit(.minutes(10))
)
struct IsolationHazardTests {
    struct Hazard: CustomTestStringConvertible, Sendable {
        var name: String
        var code: WebImageError.Code
        /// The error's expected text.
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
        Hazard(name: "passwd in a thread", code: .decoderCrashed, message: "(\"/etc/passwd\")"),
        Hazard(name: "code", code: .decoderCrashed, message: "mmap of code"),
        Hazard(name: "memory to code", code: .decoderCrashed, message: "mprotect of code"),
        Hazard(name: "limits of the parent", code: .decoderCrashed, message: "prlimit"),
        Hazard(name: "signal to the parent", code: .decoderCrashed, message: "tgkill"),
        Hazard(name: "sync", code: .decoderCrashed, message: "SIGSYS"),
        Hazard(name: "exit", code: .decoderCrashed, message: "status 3"),
    ]

    @Test(arguments: hazards)
    func `The error describes the crash, and the next image is decoded`(_ hazard: Hazard) async throws {
        let coder = IsolationHarness.coder()
        let error = try #require(await IsolationHarness.error(hazard.name, coder))
        #expect(error.code == hazard.code, "\(error)")
        #expect(error.message.contains(hazard.message), "\(error)")
        let next = await IsolationHarness.decode("picture", coder)
        #expect(IsolationHarness.isRight(try next.get()))
    }

    @Test(arguments: ["spin", "sleep"])
    func `A decode that takes too long is ended, whether it computes or blocks`(name: String) async throws {
        let coder = IsolationHarness.coder { $0.maximumDecodeDuration = 0.3 }
        // The worker is running, so that the time is the decode's.
        _ = await IsolationHarness.decode("picture", coder)
        let start = ContinuousClock.now
        let error = try #require(await IsolationHarness.error(name, coder))
        #expect(error.code == .decodeTimedOut && error.message.contains("0.3 s"), "\(error)")
        #expect(ContinuousClock.now - start < .seconds(10))
        let patient = IsolationHarness.coder()
        #expect(IsolationHarness.isRight(try await IsolationHarness.decode("picture", patient).get()))
    }

    @Test func `A decoder that tried to write has written nothing`() async {
        _ = await IsolationHarness.error("write", IsolationHarness.coder())
        #expect(access("/tmp/hazard", F_OK) != 0)
    }

    @Test func `Images decoded meanwhile are not affected`() async throws {
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

    @Test func `A decoder's error is reported, and its worker continues`() async throws {
        let hazards = NamedHazards()
        let coder = IsolationHarness.coder { ($0.maximumWorkerCount, $0.workerPath) = (1, hazards.path) }
        _ = await IsolationHarness.decode("picture", coder)
        let before = hazards.workers
        let refused = try #require(await IsolationHarness.error("refuse", coder))
        #expect(refused.code == .badImageData && refused.message == "no [31m picture ")
        let strange = try #require(await IsolationHarness.error("strange code", coder))
        #expect(strange.code == .badImageData && strange.message == "never mind")
        #expect(!before.isEmpty && before == hazards.workers)
    }

    @Test(arguments: ["thread", "descriptor commands", "leftovers"])
    func `Threads of libraries are allowed, commands that signal are not, and allocated memory is empty`(
        name: String
    ) async throws {
        let image = try await IsolationHarness.decode(name, IsolationHarness.coder()).get()
        #expect(IsolationHarness.isRight(image))
    }

    @Test(arguments: [WorkerKind.sealed, .fonts], ["advice", "warning"])
    func `Unknown madvise advice is answered as by an old kernel, and GLib may print warnings`(
        kind: WorkerKind,
        name: String
    ) async throws {
        let pool = WorkerPool(IsolationHarness.isolation(), kind)
        let answer = await valueOnThread {
            Result { () throws(WebImageError) in
                try pool.perform(.decode(ImageDecodeOptions()), .data(IsolationHarness.picture(name)), seconds: 20).0
            }
        }
        guard case .image = try answer.get() else {
            Issue.record("it was not decoded")
            return
        }
    }

    @Test(arguments: ["processor time", "hoard"])
    func `No decoder can lift the limits of time and memory`(name: String) async throws {
        let image = try await IsolationHarness.decode(name, IsolationHarness.coder()).get()
        #expect(IsolationHarness.isRight(image))
    }

    @Test(arguments: ["passwd", "passwd in a thread", "write"])
    func `A worker that reads fonts reads nothing else, on any thread`(name: String) async throws {
        let pool = WorkerPool(IsolationHarness.isolation(), .fonts)
        let found = await valueOnThread { () -> Result<Bool, WebImageError> in
            do throws(WebImageError) {
                let options = ImageDecodeOptions()
                let (answer, _) = try pool.perform(.decode(options), .data(IsolationHarness.picture(name)), seconds: 20)
                guard case .image = answer else { return .success(false) }
                return .success(true)
            } catch {
                return .failure(error)
            }
        }
        // The worker ends with an error if it could open the file.
        guard pool.walls?.readsFonts == true else {
            #expect(throws: WebImageError.self) { try found.get() }
            return
        }
        #expect(try found.get())
    }

    @Test(arguments: WorkerKind.allCases)
    func `A worker with threads outside the sandbox is not used`(kind: WorkerKind) async throws {
        let hazards = NamedHazards(prefix: "crowded")
        let program = WorkerProgram(path: hazards.path)
        let error = await valueOnThread { () -> WebImageError? in
            do throws(WebImageError) {
                _ = try WorkerProcess(program, kind, memory: 1 << 30)
                return nil
            } catch {
                return error
            }
        }
        #expect(error?.code == .decoderUnavailable && error?.message.contains("2 threads") == true, "\(error as Any)")
        #expect(hazards.workers.isEmpty)
    }

    @Test func `Data that is too long, or empty, is not sent to a worker`() async throws {
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

    @Test func `A long answer is sent as memory, within its limit`() async throws {
        let coder = IsolationHarness.coder()
        let ask: @Sendable (ImageLimits) async -> Result<ImageProperties, any Error> = { limits in
            await valueOnThread {
                Result { try coder.properties(of: IsolationHarness.picture("frames"), limits: limits) }
            }
        }
        var limits = ImageLimits()
        limits.maximumFrameCount = 20_000
        let properties = try await ask(limits).get()
        #expect(properties.frameCount == 20_000 && properties.frameDurations == Array(repeating: 0.25, count: 20_000))
        for most in [100, 19_999] {
            limits.maximumFrameCount = most
            let answer = await ask(limits)
            let error = #expect(throws: WebImageError.self) { try answer.get() }
            let problem = most == 100 ? "too long" : "20000 frames"
            #expect(error?.code == .decoderCrashed && error?.message.contains(problem) == true)
        }
    }
}
