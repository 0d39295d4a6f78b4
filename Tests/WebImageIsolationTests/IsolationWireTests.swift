import FoundationEssentials
import TestSupport
import Testing

@testable import WebImageIsolation

@Suite struct IsolationWireTests {
    private static func options(_ random: inout SeededGenerator) -> ImageDecodeOptions {
        var options = ImageDecodeOptions()
        options.decodeFirstFrameOnly = .random(using: &random)
        options.preloadsAllFrames = .random(using: &random)
        options.requiresAnimation = .random(using: &random)
        options.scaleFactor = .random(in: 0...4, using: &random)
        options.preserveAspectRatio = .random(using: &random)
        options.thumbnailCovers = .random(using: &random)
        if Bool.random(using: &random) {
            options.thumbnailPixelSize = ImageSize(width: .random(in: 0...9, using: &random), height: 7.5)
        }
        options.scaleDownLimitBytes = .random(in: 0...Int.max, using: &random)
        options.scalingQuality = .random(using: &random) ? .high : .fast
        options.pixelFormat = PixelFormat.allCases.randomElement(using: &random)
        if Bool.random(using: &random) { options.pixelFormat = nil }
        if Bool.random(using: &random) {
            options.formatHint = ImageFormat(rawValue: .random(in: -1...2000, using: &random))
        }
        options.decodeToHDR = .random(using: &random)
        options.limits.maximumPixelCount = .random(in: 0...Int.max, using: &random)
        options.limits.maximumScanCount = .random(in: 0...Int.max, using: &random)
        if Bool.random(using: &random) { options.limits.maximumDecodeDuration = .random(in: 0...9, using: &random) }
        options.page = .random(in: 0...Int.max, using: &random)
        options.rawDevelopment = .random(using: &random) ? .preview : .full
        if Bool.random(using: &random) { options.videoTime = .random(in: 0...99, using: &random) }
        options.limits.maximumColorProfileByteCount = .random(in: 0...Int.max, using: &random)
        return options
    }

    private static func setup(_ options: ImageDecodeOptions, _ random: inout SeededGenerator) -> RegionSetup {
        RegionSetup(
            Bool.random(using: &random) ? .rows : .regions,
            width: .random(in: 1...WireLimit.side, using: &random),
            height: 5,
            tileSize: 512,
            maximumImagePixelCount: .random(in: 0...Int.max, using: &random),
            usesOnlyFullSize: .random(using: &random),
            options: options
        )
    }

    private static func requests(_ random: inout SeededGenerator) -> [IsolationRequest] {
        let options = options(&random)
        let tasks: [IsolationTask] = [
            .properties(options.limits), .need(options), .decode(options), .animation(random.next(), options),
            .frame(random.next(), index: .random(in: 0...9, using: &random), options),
            .regions(.open(setup(options, &random), byteCount: .random(in: 0...Int.max, using: &random)), options),
            .regions(.advance, options),
            .regions(.read(PixelArea(left: 0, top: 7, width: 8, height: 9), level: 3), options),
            .regions(.rows(width: 5, count: 6), options),
        ]
        return tasks.map { task in
            let capacity = Int.random(in: 0...Int.max, using: &random)
            let count = Bool.random(using: &random) ? Int.random(in: 0...capacity, using: &random) : nil
            return IsolationRequest(
                id: random.next(),
                task: task,
                byteCount: count,
                sourceByteCount: Bool.random(using: &random) ? .random(in: 0...Int.max, using: &random) : nil,
                capacity: capacity,
                seconds: 1.5
            )
        }
    }

    private static var replies: [IsolationReply] {
        var metadata = ImageMetadata()
        (metadata.format, metadata.sourceWidth, metadata.sourceHeight) = (.avif, 40, 30)
        (metadata.sourceOrientation, metadata.frameCount, metadata.loopCount) = (.left, 7, 3)
        (metadata.colorProfile, metadata.isThumbnail, metadata.isHighDynamicRange) = ("Größe", true, true)
        metadata.pageCount = 5
        (metadata.isVector, metadata.isFirstFrame, metadata.scaleDownLimitBytes) = (true, true, 9)
        let image = Image.tiny().with(metadata: metadata)
        var properties = ImageProperties(format: .gif, width: 3, height: 4)
        (properties.frameCount, properties.frameDurations, properties.loopCount) = (2, [0.1, 2], 5)
        properties.videoDuration = 7.5
        (properties.hasAlpha, properties.bitsPerComponent, properties.isHighDynamicRange) = (true, 16, true)
        (properties.colorProfile, properties.pageCount, properties.orientation) = ("P3", 8, .down)
        return [
            IsolationReply(id: 1, answer: .properties(properties)),
            IsolationReply(id: 2, answer: .need(DecodeMemoryNeed(outputByteCount: 5, workingByteCount: 6))),
            IsolationReply(id: 3, answer: .image(IsolatedImage(image))),
            IsolationReply(id: 4, answer: .animation(frameCount: 3, loopCount: 0, durations: [1, 2, 3])),
            IsolationReply(id: 5, answer: .failure(.limitExceeded("maximumPixelCount", allowed: 5, required: 6))),
            IsolationReply(id: 6, answer: .failure(.pageNotFound(3, of: 2))),
            IsolationReply(id: 7, answer: .regions(nil)),
            IsolationReply(
                id: 8,
                answer: .regions(RegionState(rowFormat: .bgra8Premultiplied, readableRows: [9, 0, WireLimit.side]))
            ),
        ]
    }

    @Test func `Every request is decoded as it was encoded`() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<100 {
            for request in Self.requests(&random) {
                let read = try request.message.withUnsafeBytes { try IsolationRequest($0) }
                #expect(read == request)
            }
        }
    }

    @Test func `Every answer is decoded as it was encoded`() throws {
        for reply in Self.replies {
            let read = try reply.message.withUnsafeBytes { try IsolationReply($0) }
            #expect(read.id == reply.id)
            switch (read.answer, reply.answer) {
            case (.properties(let read), .properties(let told)): #expect(read == told)
            case (.need(let read), .need(let told)): #expect(read == told)
            case (.image(let read), .image(let told)): #expect(read == told)
            case (
                .animation(let frames, let loops, let times), .animation(let toldFrames, let toldLoops, let toldTimes)
            ):
                #expect(frames == toldFrames && loops == toldLoops && times == toldTimes)
            case (.failure(let read), .failure(let told)): #expect(read == told && read.message == told.message)
            case (.regions(let read), .regions(let told)): #expect(read == told)
            default: Issue.record("the kinds differ")
            }
        }
    }

    @Test func `A truncated message, or one with more at its end, is refused`() {
        var random = SeededGenerator(seed: 2)
        for request in Self.requests(&random) {
            for count in 0..<request.message.count {
                #expect(Self.request(Array(request.message.prefix(count))) == nil)
            }
            #expect(Self.request(request.message + [0]) == nil)
        }
        for reply in Self.replies {
            for count in 0..<reply.message.count { #expect(!Self.isReply(Array(reply.message.prefix(count)))) }
            #expect(!Self.isReply(reply.message + [0]))
        }
    }

    @Test func `Damaged answers are refused or valid, and never trap`() {
        var random = SeededGenerator(seed: 3)
        var accepted = 0
        for _ in 0..<20_000 {
            var message = Self.replies.randomElement(using: &random)?.message ?? []
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                message[Int.random(in: 0..<message.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            let reply = message.withUnsafeBytes { try? IsolationReply($0) }
            guard case .image(let picture)? = reply?.answer else { continue }
            accepted += 1
            #expect(picture.width > 0 && picture.height > 0 && picture.byteOffset >= 0)
            if let needed = try? picture.neededByteCount {
                let (row, rows) = (picture.width * picture.pixelFormat.bytesPerPixel, picture.height - 1)
                #expect(needed == picture.byteOffset + rows * picture.bytesPerRow + row && picture.bytesPerRow >= row)
            }
        }
        #expect(accepted > 100)
    }

    @Test func `Times that are negative, infinite or NaN are refused`() {
        for time in [-1, .infinity, .nan] {
            let reply = IsolationReply(id: 1, answer: .animation(frameCount: 1, loopCount: 0, durations: [time]))
            #expect(!Self.isReply(reply.message))
        }
    }

    @Test func `Errors contain no terminal controls, and no decoder can cancel a load`() throws {
        let error = WebImageError(.cancelled, "\u{1B}]0;title\u{7}\n" + String(repeating: "x", count: 5000))
        let reply = IsolationReply(id: 1, answer: .failure(error))
        guard case .failure(let read) = try reply.message.withUnsafeBytes({ try IsolationReply($0) }).answer else {
            Issue.record("no error")
            return
        }
        #expect(read.code == .badImageData && read.message.utf8.count == 1000)
        #expect(read.message.hasPrefix(" ]0;title  xx"))
    }

    @Test func `Messages about memory give its length, and no other message is taken for one`() {
        for message in [MemoryMessage.answer(70_000), .announcement(5 << 20), .answer(1), .announcement(.max)] {
            #expect(MemoryMessage(message.bytes) == message)
        }
        for count in [0, -1, .min] {
            #expect(MemoryMessage(MemoryMessage.answer(count).bytes) == nil)
            #expect(MemoryMessage(MemoryMessage.announcement(count).bytes) == nil)
        }
        #expect(MemoryMessage([]) == nil && MemoryMessage(Array(repeating: 0, count: 16)) == nil)
        for reply in Self.replies { #expect(MemoryMessage(reply.message) == nil) }
    }

    @Test func `A sandbox of only a part of the worker does not count`() {
        var walls = WorkerSandbox()
        walls.hasSeccomp = true
        #expect(walls.problem == nil)
        for (change, problem) in Self.gaps {
            var other = walls
            change(&other)
            #expect(other.problem?.contains(problem) == true)
        }
    }

    private static let gaps: [(@Sendable (inout WorkerSandbox) -> Void, String)] = [
        ({ $0.hasSeccomp = false }, "seccomp"), ({ $0.threads = 2 }, "2 threads"), ({ $0.threads = 0 }, "/proc"),
        ({ $0.isBounded = false }, "/proc"), ({ $0.version -= 1 }, "version"),
    ]

    @Test func `A worker's report of its sandbox is decoded as it was encoded`() throws {
        var walls = WorkerSandbox()
        (walls.hasSeccomp, walls.landlock, walls.readsFonts, walls.threads) = (true, 7, true, 2)
        walls.isBounded = false
        #expect(try walls.message.withUnsafeBytes { try WorkerSandbox($0) } == walls)
        for count in 0..<walls.message.count {
            #expect(walls.message.prefix(count).withUnsafeBytes { try? WorkerSandbox($0) } == nil)
        }
    }

    private static func request(_ message: [UInt8]) -> IsolationRequest? {
        message.withUnsafeBytes { try? IsolationRequest($0) }
    }

    private static func isReply(_ message: [UInt8]) -> Bool {
        message.withUnsafeBytes { (try? IsolationReply($0)) != nil }
    }

    @Test func `A coder without an estimate is accepted, a number beyond all memory is not`() throws {
        let unknown = DecodeMemoryNeed(outputByteCount: .max, workingByteCount: .max)
        var message = IsolationReply(id: 1, answer: .need(unknown)).message
        let reply = try message.withUnsafeBytes { try IsolationReply($0) }
        guard case .need(let need) = reply.answer else { throw WireError("another answer") }
        #expect(need.outputByteCount == WireLimit.need && need.workingByteCount == WireLimit.need)
        withUnsafeBytes(of: UInt64(WireLimit.need) + 1) { message.replaceSubrange(16..<24, with: $0) }
        #expect(throws: WireError.self) { try message.withUnsafeBytes { try IsolationReply($0) } }
    }
}
