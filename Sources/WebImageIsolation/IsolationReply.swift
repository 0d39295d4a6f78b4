import FoundationEssentials

/// The answer of a worker.
package enum IsolationAnswer: Sendable {
    case properties(ImageProperties)
    case need(DecodeMemoryNeed)
    /// An image, whose pixels are in the memory that the message carries.
    case image(IsolatedImage)
    /// The number of frames, the loop count, and the duration of each frame.
    case animation(frameCount: Int, loopCount: Int, durations: [Double])
    /// The state of an image that the worker keeps open; nil if it can only be decoded as a whole.
    case regions(RegionState?)
    case failure(WebImageError)
}

/// The description of an image without its pixels, sent by a worker.
package struct IsolatedImage: Sendable, Equatable {
    var width: Int
    var height: Int
    var bytesPerRow: Int
    var byteOffset: Int
    var pixelFormat: PixelFormat
    var orientation: ImageOrientation
    var metadata: ImageMetadata

    package init(_ image: Image) {
        let bitmap = image.bitmap
        (width, height, bytesPerRow) = (bitmap.width, bitmap.height, bitmap.bytesPerRow)
        (byteOffset, pixelFormat) = (bitmap.byteOffset, bitmap.pixelFormat)
        (orientation, metadata) = (image.orientation, image.metadata)
    }

    /// The number of bytes from the beginning of the memory to the end of the last pixel.
    ///
    /// - Throws: if the values are inconsistent.
    var neededByteCount: Int {
        get throws(WireError) {
            // No side is longer than 2^24, so a row cannot overflow; the rest is checked.
            let row = width * pixelFormat.bytesPerPixel
            guard (row...row + 4096).contains(bytesPerRow) else {
                throw WireError("rows are \(bytesPerRow) bytes apart")
            }
            let (rows, overflow) = bytesPerRow.multipliedReportingOverflow(by: height - 1)
            let (pixels, overflows) = rows.addingReportingOverflow(row)
            let (sum, isTooMuch) = pixels.addingReportingOverflow(byteOffset)
            guard !overflow, !overflows, !isTooMuch else { throw WireError("the image is bigger than memory") }
            return sum
        }
    }
}

/// A message from a worker.
package struct IsolationReply: Sendable {
    /// The number of the request.
    var id: UInt64
    var answer: IsolationAnswer

    package init(id: UInt64, answer: IsolationAnswer) { (self.id, self.answer) = (id, answer) }

    package var message: [UInt8] {
        var writer = WireWriter()
        writer.write(id)
        switch answer {
        case .properties(let properties):
            writer.write(0)
            properties.write(to: &writer)
        case .need(let need):
            writer.write(1)
            // A coder that does not know its need reports the maximum.
            writer.write(min(max(need.outputByteCount, 0), WireLimit.need))
            writer.write(min(max(need.workingByteCount, 0), WireLimit.need))
        case .image(let image):
            writer.write(2)
            image.write(to: &writer)
        case .animation(let frameCount, let loopCount, let durations):
            writer.write(3)
            writer.write(frameCount)
            writer.write(loopCount)
            writer.write(durations)
        case .failure(let error):
            writer.write(4)
            error.write(to: &writer)
        case .regions(let state):
            writer.write(5)
            RegionTask.write(state, to: &writer)
        }
        return writer.bytes
    }

    init(_ message: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(message)
        id = try reader.word()
        switch try reader.int() {
        case 0: answer = .properties(try ImageProperties(from: &reader))
        case 1:
            let output = try reader.int(0...WireLimit.need, "the need")
            let working = try reader.int(0...WireLimit.need, "the need")
            answer = .need(DecodeMemoryNeed(outputByteCount: output, workingByteCount: working))
        case 2: answer = .image(try IsolatedImage(from: &reader))
        case 3:
            answer = .animation(
                frameCount: try reader.int(1...WireLimit.frames, "the number of frames"),
                loopCount: try reader.int(0...WireLimit.loops, "the number of loops"),
                durations: try reader.seconds(atMost: WireLimit.frames)
            )
        case 4: answer = .failure(try WebImageError(from: &reader))
        case 5: answer = .regions(try RegionTask.readState(from: &reader))
        case let number: throw WireError("unknown answer \(number)")
        }
        try reader.end()
    }
}

/// Limits that no valid answer exceeds.
enum WireLimit {
    static let side = 1 << 24
    static let frames = 1 << 24
    static let loops = 1 << 32
    static let text = 4096
    static let need = 1 << 48
    /// Decoders start an image at the beginning of its memory. The memory before a bigger offset would not be counted.
    static let offset = 4096
}

extension IsolatedImage {
    fileprivate func write(to writer: inout WireWriter) {
        for value in [width, height, bytesPerRow, byteOffset, Int(pixelFormat.rawValue), orientation.rawValue] {
            writer.write(value)
        }
        metadata.write(to: &writer)
    }

    fileprivate init(from reader: inout WireReader) throws(WireError) {
        width = try reader.int(1...WireLimit.side, "the width")
        height = try reader.int(1...WireLimit.side, "the height")
        bytesPerRow = try reader.int(1...Int.max, "the length of a row")
        byteOffset = try reader.int(0...WireLimit.offset, "the offset")
        pixelFormat = try PixelFormat(from: &reader)
        orientation = try ImageOrientation(from: &reader)
        metadata = try ImageMetadata(from: &reader)
    }
}

extension ImageOrientation {
    fileprivate init(from reader: inout WireReader) throws(WireError) {
        self = ImageOrientation(exif: try reader.int(1...8, "the orientation"))
    }
}

extension ImageMetadata {
    /// Writes the properties that decoders set: not those of transformers and previews, nor the source hash.
    fileprivate func write(to writer: inout WireWriter) {
        for value in [
            format.rawValue, sourceWidth, sourceHeight, sourceOrientation.rawValue, frameCount, pageCount, loopCount,
        ] { writer.write(value) }
        writer.write(colorProfile) { $0.write(String(decoding: $1.utf8.prefix(1000), as: UTF8.self)) }
        writer.write(scaleDownLimitBytes)
        for flag in [isThumbnail, isVector, isFirstFrame, isHighDynamicRange, isDamaged] { writer.write(flag) }
    }

    fileprivate init(from reader: inout WireReader) throws(WireError) {
        self.init()
        format = ImageFormat(rawValue: try reader.int())
        sourceWidth = try reader.int(0...WireLimit.side, "the width in the file")
        sourceHeight = try reader.int(0...WireLimit.side, "the height in the file")
        sourceOrientation = try ImageOrientation(from: &reader)
        frameCount = try reader.int(1...WireLimit.frames, "the number of frames")
        pageCount = try reader.int(1...WireLimit.frames, "the number of pages")
        loopCount = try reader.int(0...WireLimit.loops, "the number of loops")
        colorProfile = try reader.optional { (reader) throws(WireError) in try reader.text(atMost: WireLimit.text) }
        scaleDownLimitBytes = try reader.int(0...Int.max, "the byte limit")
        isThumbnail = try reader.bool()
        isVector = try reader.bool()
        isFirstFrame = try reader.bool()
        isHighDynamicRange = try reader.bool()
        isDamaged = try reader.bool()
    }
}

extension ImageProperties {
    fileprivate func write(to writer: inout WireWriter) {
        for value in [
            format.rawValue, width, height, orientation.rawValue, frameCount, pageCount, loopCount, bitsPerComponent,
        ] { writer.write(value) }
        writer.write(frameDurations)
        writer.write(videoDuration) { $0.write($1) }
        writer.write(hasAlpha)
        writer.write(isHighDynamicRange)
        writer.write(colorProfile) { $0.write(String(decoding: $1.utf8.prefix(1000), as: UTF8.self)) }
    }

    fileprivate init(from reader: inout WireReader) throws(WireError) {
        self.init(
            format: ImageFormat(rawValue: try reader.int()),
            width: try reader.int(1...WireLimit.side, "the width"),
            height: try reader.int(1...WireLimit.side, "the height")
        )
        orientation = try ImageOrientation(from: &reader)
        frameCount = try reader.int(1...WireLimit.frames, "the number of frames")
        pageCount = try reader.int(1...WireLimit.frames, "the number of pages")
        loopCount = try reader.int(0...WireLimit.loops, "the number of loops")
        bitsPerComponent = try reader.int(1...64, "the number of bits")
        frameDurations = try reader.seconds(atMost: WireLimit.frames)
        videoDuration = try reader.optional { (reader) throws(WireError) in try reader.double() }
        hasAlpha = try reader.bool()
        isHighDynamicRange = try reader.bool()
        colorProfile = try reader.optional { (reader) throws(WireError) in try reader.text(atMost: WireLimit.text) }
    }
}

extension WebImageError {
    /// The codes that a decoder may report.
    private static let codes: [Code] = [
        .badImageData, .limitExceeded, .unsupportedFormat, .outOfMemory, .pageNotFound, .previewNotFound,
        .decodeTimedOut,
    ]

    fileprivate func write(to writer: inout WireWriter) {
        writer.write(code.rawValue)
        writer.write(String(decoding: message.utf8.prefix(1000), as: UTF8.self))
        writer.write(limit) { writer, limit in
            writer.write(limit.name)
            writer.write(Int(limit.allowed))
            writer.write(Int(limit.required))
        }
    }

    /// Replaces codes that decoders do not use by the one for invalid image data, and control characters in messages by spaces.
    fileprivate init(from reader: inout WireReader) throws(WireError) {
        let code = Code(rawValue: try reader.int())
        let message = try reader.text(atMost: WireLimit.text)
        let limit = try reader.optional { (reader) throws(WireError) in
            Limit(
                name: Self.plain(try reader.text(atMost: WireLimit.text)),
                allowed: Int64(try reader.int()),
                required: Int64(try reader.int())
            )
        }
        self.init(Self.codes.contains(code) ? code : .badImageData, Self.plain(message), limit: limit)
    }

    private static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : $0 }))
    }
}
