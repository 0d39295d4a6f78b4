import FoundationEssentials
import TestSupport
import Testing
import WebImage

/// A GIF of any length: the frames of a file over and over.
private func longGIF(frameCount: Int) throws -> Data {
    let bytes = [UInt8](try Fixtures.data("big-frames.gif"))
    let tableSize = bytes[10] & 0x80 == 0 ? 0 : 3 << (Int(bytes[10] & 7) + 1)
    var offset = 13 + tableSize
    let head = bytes[..<offset]
    var blocks: [ArraySlice<UInt8>] = []
    var start = offset
    while bytes[offset] != 0x3B {
        let isImage = bytes[offset] == 0x2C
        if isImage {
            let packed = bytes[offset + 9]
            offset += 11 + (packed & 0x80 == 0 ? 0 : 3 << (Int(packed & 7) + 1))
        } else {
            offset += 2
        }
        while bytes[offset] != 0 { offset += Int(bytes[offset]) + 1 }
        offset += 1
        guard isImage else { continue }
        blocks.append(bytes[start..<offset])
        start = offset
    }
    var data = Data(head)
    for index in 0..<frameCount { data.append(contentsOf: blocks[index % blocks.count]) }
    data.append(0x3B)
    return data
}

@Suite(.timeLimit(.minutes(2))) struct LongAnimationTests {
    @Test func `A thousand frames of 500 by 500 play within the buffer and 32 MiB`() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/long.gif"
        try longGIF(frameCount: 1000).write(to: URL(fileURLWithPath: path))
        let budget = 16 << 20
        let run = try await ProgramRun.run(ProgramRun.product("test-program"), ["play-animation", path, "\(budget)"])
        let numbers = run.output.split(whereSeparator: { $0 == " " || $0 == "\n" }).compactMap { Int($0) }
        try #require(run.status == 0 && numbers.count == 3, "\(run.output) \(run.errors)")
        #expect(numbers[0] == 1000, "every frame was shown, in order")
        #expect(numbers[2] - numbers[1] <= budget + 32 << 20, "\((numbers[2] - numbers[1]) >> 10) KiB")
    }

    @Test func `In order each frame is decoded once per loop, continuing from the last one`() throws {
        let decoded = Lock<[Int]>([])
        let frames = (0..<64).map { AnimationFrame(left: $0 % 3, width: 4, height: 4, duration: 0.1, disposal: .keep) }
        let properties = ImageProperties(format: .gif, width: 8, height: 4)
        let animation = try ComposedAnimation(
            Data(),
            frames: frames,
            properties: properties,
            options: ImageDecodeOptions()
        ) { (index) throws(WebImageError) in
            decoded.withLock { $0.append(index) }
            return try .allocate(width: 4, height: 4, pixelFormat: .rgb8)
        }
        for _ in 0..<3 {
            for index in 0..<64 { _ = try animation.frame(at: index) }
            #expect(decoded.withLock { $0 } == Array(0..<64))
            decoded.withLock { $0 = [] }
        }
        _ = try animation.frame(at: 10)
        animation.releaseDecoder()
        decoded.withLock { $0 = [] }
        _ = try animation.frame(at: 11)
        #expect(decoded.withLock { $0 } == Array(0...11), "without the canvas it is drawn again")
    }
}
