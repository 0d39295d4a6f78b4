import FoundationEssentials
import Glibc
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageIsolation
@testable import WebImageLoading

/// Hanging decoders in real workers, and the decodes waiting for them.
@Suite(
    .tags(.threadSanitizer, .addressSanitizer),
    .enabled(if: IsolationHarness.isSupported, "this system does not confine processes, or this is a sanitized build"),
    .timeLimit(.minutes(10))
)
struct FairDecodingTests {
    /// Not shared with other tests, whose workers would be killed or counted.
    private let hazards = NamedHazards()

    private func coder(domain: String = "", _ change: (inout DecodeIsolation) -> Void = { _ in }) -> IsolatedImageCoder
    {
        IsolationHarness.coder { isolation in
            (isolation.workerPath, isolation.maximumDecodeDuration, isolation.domain) = (hazards.path, 100, domain)
            change(&isolation)
        }
    }

    /// Runs hanging decodes, as many as there are decode threads, while `body` runs; then kills their workers.
    ///
    /// - Returns: The number of decodes that had ended before.
    private func whileDecodersHang(_ coder: any ImageCoder, _ body: () async throws -> Void) async throws -> Int {
        let ended = Lock(0)
        let count = CodingQueue.processorCount
        let hung = (0..<count).map { _ in
            Task {
                let error = await IsolationHarness.error("sleep", coder)
                ended.withLock { $0 += 1 }
                return error?.code
            }
        }
        let hazards = hazards
        #expect(await becomes { hazards.workers.count == count })
        try await body()
        let before = ended.withLock { $0 }
        // A worker that was just started has another name until it runs its program.
        let end = Task {
            var polling = Polling()
            while !Task.isCancelled {
                for worker in hazards.workers { kill(worker, SIGKILL) }
                await polling.pause()
            }
        }
        for decode in hung { #expect(await decode.value != nil) }
        end.cancel()
        return before
    }

    @Test(arguments: [false, true])
    func `Hanging decoders block no decode thread: other images are decoded meanwhile`(isRegistered: Bool) async throws
    {
        let data = try Fixtures.data("PNG/photo-rgb.png")
        let done = Lock(0)
        let isolated = IsolatedImageCoder(coder().isolation, base: PlainCoder())
        let hanging: any ImageCoder = isRegistered ? ImageCodersManager(coders: [isolated]) : isolated
        let ended = try await whileDecodersHang(hanging) {
            // One decode, one header, one encoding: each has a thread.
            Task {
                guard let image = try? await Image.decode(data) else { return }
                done.withLock { $0 += 1 }
                if (try? await ImageProperties.read(from: data)) != nil { done.withLock { $0 += 1 } }
                if (try? await image.encoded(as: .png)) != nil { done.withLock { $0 += 1 } }
            }
            #expect(await becomes { done.withLock { $0 == 3 } })
        }
        #expect(ended == 0)
    }

    @Test func `Hanging decoders block no decode thread of a memory budget either`() async throws {
        let data = try Fixtures.data("PNG/photo-rgb.png")
        let done = Lock(false)
        let budget = DecodedMemoryBudget(byteLimit: 64 << 20)
        let ended = try await whileDecodersHang(coder()) {
            _ = CodingQueue.shared.submit(
                cost: .decode(data, ImageCodersManager.shared, ImageDecodeOptions()),
                of: budget
            ) { given in
                if case .success = given { done.withLock { $0 = true } }
            }
            #expect(await becomes { done.withLock { $0 } })
        }
        #expect(ended == 0)
    }

    @Test
    func `However many hanging images want the whole memory budget, others get their turn, and nothing exceeds it`()
        async throws
    {
        let budget = DecodedMemoryBudget(byteLimit: 8 << 20)
        let hostile = coder(domain: "one") { $0.maximumDecodeDuration = 0.5 }
        let codes = Lock<[WebImageError.Code]>([])
        // Each hanging image takes the whole budget, so this counts them in the order of their turns.
        let turns = Lock(0)
        let data = IsolationHarness.picture("greedy")
        for _ in 0..<8 {
            _ = CodingQueue.shared.submit(cost: .decode(data, hostile, ImageDecodeOptions()), of: budget) { given in
                turns.withLock { $0 += 1 }
                let image = given.flatMap { options in
                    Result { () throws(WebImageError) in
                        try hostile.completeImage(of: data, options: options ?? ImageDecodeOptions())
                    }
                }
                if case .failure(let error) = image { codes.withLock { $0.append(error.code) } }
            }
        }
        #expect(await becomes { budget.usage.inFlightByteCount == 8 << 20 && budget.usage.waitingCount > 0 })
        let before = Lock<Int?>(nil)
        let good = try Fixtures.data("PNG/photo-rgb.png")
        // Turns end by time: on a busy machine some have passed already.
        let passed = turns.withLock { passed in
            _ = CodingQueue.shared.submit(
                cost: .decode(good, ImageCodersManager.shared, ImageDecodeOptions()),
                of: budget
            ) { _ in
                before.withLock { $0 = turns.withLock { $0 } }
            }
            return passed
        }
        #expect(await becomes { codes.withLock { $0.count == 8 } && before.withLock { $0 != nil } })
        #expect(try #require(before.withLock { $0 }) - passed <= 3, "at most those that were there before it")
        #expect(codes.withLock { $0 } == Array(repeating: .decodeTimedOut, count: 8))
        #expect(budget.usage.peakByteCount <= 8 << 20 && budget.usage.inFlightByteCount == 0)
    }

    @Test func `Images of one policy do not wait for those of another, nor for workers of other kinds`() async throws {
        let done = Lock(false)
        let (hanging, other) = (coder(domain: "one"), coder(domain: "two"))
        let ended = try await whileDecodersHang(hanging) {
            Task {
                let result = await IsolationHarness.decode("picture", other)
                if IsolationHarness.isRight(try? result.get()) { done.withLock { $0 = true } }
            }
            #expect(await becomes { done.withLock { $0 } })
        }
        #expect(ended == 0)
    }

    @Test func `Frames from workers are awaited on separate threads`() async throws {
        let animation = try await valueOnThread { [coder = coder()] in
            Result { try coder.animation(of: IsolationHarness.picture("picture"), options: ImageDecodeOptions()) }
        }.get()
        let queue = CodingQueue.queue(of: animation, else: CodingQueue.frames)
        #expect(queue !== CodingQueue.frames && queue !== CodingQueue.shared)
        #expect(CodingQueue.queue(of: nil, else: CodingQueue.frames) === CodingQueue.frames)
    }

    @Test func `The threads of a pool end with its workers`() async throws {
        let coder = coder { $0.idleTime = 0 }
        let pool = coder.pool(for: Data())
        _ = await IsolationHarness.decode("picture", coder)
        #expect(await becomes { pool.counts == (0, 0) && coder.pool(for: Data()) !== pool })
    }

    @Test func `Workers that decode for one policy never decode for another`() async throws {
        let server = try LoopbackServer { [body = [UInt8](try Fixtures.data("PNG/photo-rgb.png"))] _ in
            .response(body: body)
        }
        let place = DecodingPlace.isolated(coder { $0.maximumWorkerCount = 1 }.isolation)
        var policies = [SourcePolicy.trusted, try .allowing(server), try .allowing(server)]
        policies[2].ports.insert(8080)
        for (index, policy) in policies.enumerated() {
            let manager = WebImageManager(
                policy: policy,
                cache: FakeCache(),
                downloader: WebImageDownloader(policy),
                pipeline: Pipeline()
            )
            // Set by the manager, by a load, or by both.
            var context = WebImageContext()
            if index == 1 { manager.decoding = place } else { context.decoding = place }
            _ = try await manager.image(with: server.url("/\(index).png"), context: context)
            #expect(hazards.workers.count == index + 1)
            _ = try await manager.image(with: server.url("/again-\(index).png"), context: context)
            #expect(hazards.workers.count == index + 1)
        }
        #expect(place.within(.trusted) == place && place.within(policies[1]) != place)
        let config = WebImageDownloader(policies[1]).config
        #expect(config.sourcePolicy.decoding.isolation?.domain == policies[1].cacheNamespace)
    }
}
