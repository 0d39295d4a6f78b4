import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

/// Animated PNG files with errors.
@Suite(.tags(.addressSanitizer)) struct PNGAnimationTests {
    private let coder = PNGCoder()
    private static let original = "Animation/apng-kept-source.png"
    private static let hidden = "Animation/apng-hidden-default.png"

    private func open(_ chunks: [PNGChunk]) throws -> any AnimatedImageProvider {
        try coder.animation(of: PNGChunk.file(chunks), options: ImageDecodeOptions())
    }

    private func frameCount(_ chunks: [PNGChunk]) throws -> Int {
        try coder.properties(of: PNGChunk.file(chunks), limits: ImageLimits()).frameCount
    }

    /// The animation with one change in the nth chunk of a kind.
    private func changed(
        _ kind: String,
        number: Int,
        at offset: Int,
        to bytes: [UInt8],
        of name: String = original
    ) throws -> [PNGChunk] {
        var chunks = try PNGChunk.read(Fixtures.data(name))
        let index = try #require(chunks.indices.filter { chunks[$0].kind == kind }.dropFirst(number).first)
        chunks[index].content.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        return chunks
    }

    @Test func `Missing frames are not counted, and the others are played`() throws {
        let chunks = try PNGChunk.read(Fixtures.data(Self.original))
        #expect(try frameCount(chunks) == 7)
        let controls = chunks.indices.filter { chunks[$0].kind == "fcTL" }
        for kept in 2..<7 {
            let fewer = Array(chunks[..<controls[kept]]) + [try #require(chunks.last)]
            #expect(try frameCount(fewer) == kept)
            let animation = try open(fewer)
            #expect(animation.frameCount == kept)
            for index in 0..<kept { _ = try animation.frame(at: index) }
            #expect(try frameCount(Array(fewer.dropLast())) == kept, "nor is the end needed")
        }
    }

    @Test func `With one frame left it is a still image`() throws {
        let chunks = try PNGChunk.read(Fixtures.data(Self.original))
        let second = try #require(chunks.indices.filter { chunks[$0].kind == "fcTL" }.dropFirst().first)
        let data = PNGChunk.file(Array(chunks[..<second]))
        let properties = try coder.properties(of: data, limits: ImageLimits())
        #expect(properties.frameCount == 1 && properties.frameDurations.isEmpty && properties.loopCount == 0)
        #expect(try coder.decode(data, options: ImageDecodeOptions()).metadata.frameCount == 1)
    }

    @Test func `Frames beyond the stated number are not played`() throws {
        #expect(try frameCount(changed("acTL", number: 0, at: 0, to: [0, 0, 0, 3])) == 3)
        #expect(try frameCount(changed("acTL", number: 0, at: 0, to: [0, 0, 0, 0])) == 1)
        #expect(try frameCount(changed("acTL", number: 0, at: 0, to: [0xFF, 0xFF, 0xFF, 0xFF])) == 7)
    }

    @Test(
        arguments: [
            // Of the fifth frame: number, empty sides, a place outside, unknown disposal and blend operations.
            ("fcTL", 4, 0, [0, 0, 0, 99], 4), ("fcTL", 4, 4, [0, 0, 0, 0], 4), ("fcTL", 4, 8, [0, 0, 0, 0], 4),
            ("fcTL", 4, 12, [0, 0, 0, 20], 4), ("fcTL", 4, 16, [0x7F, 0xFF, 0xFF, 0xFF], 4),
            ("fcTL", 4, 4, [0x7F, 0xFF, 0xFF, 0xFF], 4), ("fcTL", 4, 24, [3], 4), ("fcTL", 4, 25, [2], 4),
            ("fdAT", 3, 0, [0, 0, 0, 99], 4), ("fdAT", 0, 0, [0, 0, 0, 9], 1),
            // A first frame that is the image must cover all of it.
            ("fcTL", 0, 4, [0, 0, 0, 5], 1), ("fcTL", 0, 0, [0, 0, 0, 1], 1),
        ] as [(String, Int, Int, [UInt8], Int)]
    )
    func `An error ends the animation, and frames before it are played`(
        kind: String,
        number: Int,
        offset: Int,
        bytes: [UInt8],
        frames: Int
    ) throws {
        let chunks = try changed(kind, number: number, at: offset, to: bytes)
        #expect(try frameCount(chunks) == frames)
        let animation = try open(chunks)
        #expect(animation.frameCount == frames)
        let whole = try coder.animation(of: Fixtures.data(Self.original), options: ImageDecodeOptions())
        for index in 0..<frames {
            #expect(try animation.frame(at: index).bitmap.pixels == whole.frame(at: index).bitmap.pixels)
        }
    }

    @Test func `A wrong checksum of a control chunk ends the animation, too`() throws {
        var data = try Fixtures.data(Self.original)
        let place = try #require(data.ranges(of: Data("fcTL".utf8)).dropFirst(2).first).lowerBound
        data[place + 4 + 21] ^= 0x40
        #expect(try coder.properties(of: data, limits: ImageLimits()).frameCount == 2)
    }

    @Test func `Without a whole frame the default image is shown`() throws {
        let data = try Fixtures.data(Self.hidden)
        let first = try #require(data.firstRange(of: Data("fdAT".utf8))).lowerBound
        let cut = Data(data[..<(first + 20)])
        let still = try coder.decode(cut, options: ImageDecodeOptions())
        var chunks = PNGChunk.read(data)
        chunks.removeAll { ["acTL", "fcTL", "fdAT"].contains($0.kind) }
        let plain = try coder.decode(PNGChunk.file(chunks), options: ImageDecodeOptions())
        #expect(still.bitmap.pixels == plain.bitmap.pixels && still.metadata.frameCount == 1)
        let animation = try coder.animation(of: cut, options: ImageDecodeOptions())
        #expect(animation.frameCount == 1)
        #expect(try animation.frame(at: 0).bitmap.pixels == plain.bitmap.pixels)
    }

    @Test func `A control chunk after the image does not make an animation`() throws {
        var chunks = try PNGChunk.read(Fixtures.data(Self.original))
        let control = try #require(chunks.firstIndex { $0.kind == "acTL" })
        let moved = chunks.remove(at: control)
        chunks.insert(moved, at: try #require(chunks.lastIndex { $0.kind == "IDAT" }) + 1)
        #expect(try frameCount(chunks) == 1)
    }

    @Test func `Frames above the limit are refused unless only the first is requested`() throws {
        let data = try Fixtures.data(Self.original)
        var options = ImageDecodeOptions()
        options.limits.maximumFrameCount = 6
        let error = #expect(throws: WebImageError.self) { try coder.animation(of: data, options: options) }
        #expect(error?.limit?.name == "maximumFrameCount")
        options.decodeFirstFrameOnly = true
        #expect(try coder.animation(of: data, options: options).frameCount == 1)
        options = ImageDecodeOptions()
        options.limits.maximumFrameCount = 7
        #expect(try coder.animation(of: data, options: options).frameCount == 7)
    }

    @Test func `Damaged pixels of a frame are an error only for that frame`() throws {
        var data = try Fixtures.data("Animation/apng-noise.png")
        let place = try #require(data.firstRange(of: Data("fdAT".utf8))).lowerBound
        data[place + 30] ^= 1
        let animation = try coder.animation(of: data, options: ImageDecodeOptions())
        _ = try animation.frame(at: 0)
        let error = #expect(throws: WebImageError.self) { try animation.frame(at: 1) }
        #expect(error?.code == .badImageData && error?.message.contains("fdAT") == true)
        _ = try animation.frame(at: 0)
    }

    @Test func `A first frame that covers the canvas is scaled without one`() throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 10, height: 10)
        for name in ["hidden-default", "hidden-default-small-first", "rgba-1"] {
            let image = try coder.decode(Fixtures.data("Animation/apng-\(name).png"), options: options)
            #expect((image.pixelWidth, image.pixelHeight) == (10, 7) && image.metadata.isThumbnail)
            #expect(image.metadata.frameCount == 7 && image.hasAlpha)
        }
    }

    @Test func `The orientation applies to every frame`() throws {
        var chunks = try PNGChunk.read(Fixtures.data("Animation/apng-rgba-1.png"))
        let upright = try open(chunks)
        let block: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        chunks.insert(PNGChunk(kind: "eXIf", content: Data(block)), at: 1)
        let turned = try open(chunks)
        for index in 0..<upright.frameCount {
            let (before, after) = (try upright.frame(at: index).bitmap, try turned.frame(at: index).bitmap)
            #expect((after.width, after.height) == (before.height, before.width))
            #expect(after.pixels == (try before.upright(from: .right).pixels))
        }
    }
}

/// A chunk of a PNG file.
struct PNGChunk {
    var kind: String
    var content: Data

    static func read(_ data: Data) -> [PNGChunk] {
        var chunks: [PNGChunk] = []
        var offset = data.startIndex + 8
        while offset + 12 <= data.endIndex {
            let length = data[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            let kind = String(decoding: data[offset + 4..<offset + 8], as: UTF8.self)
            chunks.append(PNGChunk(kind: kind, content: Data(data[offset + 8..<offset + 8 + length])))
            offset += 12 + length
        }
        return chunks
    }

    static func file(_ chunks: [PNGChunk]) -> Data {
        var data = Data([0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10])
        for chunk in chunks {
            let length = UInt32(chunk.content.count).bigEndian
            withUnsafeBytes(of: length) { data.append(contentsOf: $0) }
            data.append(contentsOf: chunk.kind.utf8)
            data.append(chunk.content)
            data.append(contentsOf: [0, 0, 0, 0])
        }
        return CRC32.repairingPNG(data)
    }
}
