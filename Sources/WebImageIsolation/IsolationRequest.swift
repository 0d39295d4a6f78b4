/// A task for a worker.
package enum IsolationTask: Sendable, Equatable {
    case properties(ImageLimits)
    case need(ImageDecodeOptions)
    case decode(ImageDecodeOptions)
    /// Opens an animation, and keeps it for its frames.
    case animation(UInt64, ImageDecodeOptions)
    /// Decodes a frame of an animation, which is opened if the request includes its bytes.
    case frame(UInt64, index: Int, ImageDecodeOptions)
    /// A task on an image that the worker keeps open, and its limits.
    case regions(RegionTask, ImageDecodeOptions)

    /// The animation that a worker holds afterwards.
    var animation: UInt64? {
        switch self {
        case .properties, .need, .decode, .regions: nil
        case .animation(let id, _), .frame(let id, _, _): id
        }
    }

    var limits: ImageLimits {
        switch self {
        case .properties(let limits): limits
        case .need(let options), .decode(let options), .animation(_, let options), .frame(_, _, let options),
            .regions(_, let options):
            options.limits
        }
    }
}

/// A message to a worker.
struct IsolationRequest: Sendable, Equatable {
    /// The number of the request; the answer repeats it.
    var id: UInt64
    var task: IsolationTask
    /// The number of encoded bytes in the memory that the worker shares with the parent; nil if the task needs none.
    var byteCount: Int?
    /// The length of a file whose bytes are not in that memory, but are asked for in parts (``SourceMessage``).
    var sourceByteCount: Int?
    /// The size of that memory in bytes.
    var capacity: Int
    /// The time limit in seconds.
    var seconds: Double

    var message: [UInt8] {
        var writer = WireWriter()
        writer.write(id)
        writer.write(byteCount) { $0.write($1) }
        writer.write(sourceByteCount) { $0.write($1) }
        writer.write(capacity)
        writer.write(seconds)
        switch task {
        case .properties(let limits):
            writer.write(0)
            limits.write(to: &writer)
        case .need(let options):
            writer.write(1)
            options.write(to: &writer)
        case .decode(let options):
            writer.write(2)
            options.write(to: &writer)
        case .animation(let id, let options):
            writer.write(3)
            writer.write(id)
            options.write(to: &writer)
        case .frame(let id, let index, let options):
            writer.write(4)
            writer.write(id)
            writer.write(index)
            options.write(to: &writer)
        case .regions(let task, let options):
            writer.write(5)
            task.write(to: &writer)
            options.write(to: &writer)
        }
        return writer.bytes
    }

    init(
        id: UInt64,
        task: IsolationTask,
        byteCount: Int?,
        sourceByteCount: Int? = nil,
        capacity: Int,
        seconds: Double
    ) {
        (self.id, self.task, self.byteCount, self.sourceByteCount) = (id, task, byteCount, sourceByteCount)
        (self.capacity, self.seconds) = (capacity, seconds)
    }

    init(_ message: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(message)
        id = try reader.word()
        byteCount = try reader.optional { (reader) throws(WireError) in try reader.int(0...Int.max, "a length") }
        sourceByteCount = try reader.optional { (reader) throws(WireError) in try reader.int(0...Int.max, "a length") }
        capacity = try reader.int(0...Int.max, "a capacity")
        seconds = try reader.double()
        switch try reader.int() {
        case 0: task = .properties(try ImageLimits(from: &reader))
        case 1: task = .need(try ImageDecodeOptions(from: &reader))
        case 2: task = .decode(try ImageDecodeOptions(from: &reader))
        case 3: task = .animation(try reader.word(), try ImageDecodeOptions(from: &reader))
        case 4: task = .frame(try reader.word(), index: try reader.int(), try ImageDecodeOptions(from: &reader))
        case 5: task = .regions(try RegionTask(from: &reader), try ImageDecodeOptions(from: &reader))
        case let number: throw WireError("unknown task \(number)")
        }
        try reader.end()
        guard (byteCount ?? 0) <= capacity else { throw WireError("the bytes exceed the capacity") }
    }
}

extension ImageLimits {
    /// All limits, in a fixed order.
    private static let all: [any (WritableKeyPath<ImageLimits, Int> & Sendable)] = [
        \.maximumPixelCount, \.maximumSideLength, \.maximumEncodedByteCount, \.maximumDecodedByteCount,
        \.maximumFrameCount,
        \.maximumScanCount, \.maximumColorProfileByteCount,
    ]

    func write(to writer: inout WireWriter) {
        for limit in Self.all { writer.write(self[keyPath: limit]) }
        writer.write(maximumDecodeDuration) { $0.write($1) }
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init()
        for limit in Self.all { self[keyPath: limit] = try reader.int() }
        maximumDecodeDuration = try reader.optional { (reader) throws(WireError) in try reader.double() }
    }
}

extension ImageDecodeOptions {
    /// Writes everything but the values of custom coders, which another process cannot know.
    func write(to writer: inout WireWriter) {
        writer.write(decodeFirstFrameOnly)
        writer.write(preloadsAllFrames)
        writer.write(requiresAnimation)
        writer.write(scaleFactor)
        writer.write(preserveAspectRatio)
        writer.write(thumbnailCovers)
        writer.write(thumbnailPixelSize) { writer, size in
            writer.write(size.width)
            writer.write(size.height)
        }
        writer.write(scaleDownLimitBytes)
        writer.write(scalingQuality.rawValue)
        writer.write(pixelFormat) { $0.write(Int($1.rawValue)) }
        writer.write(formatHint) { $0.write($1.rawValue) }
        writer.write(decodeToHDR)
        writer.write(refusesDamagedData)
        writer.write(page)
        writer.write(rawDevelopment.rawValue)
        writer.write(videoTime) { $0.write($1) }
        limits.write(to: &writer)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init()
        decodeFirstFrameOnly = try reader.bool()
        preloadsAllFrames = try reader.bool()
        requiresAnimation = try reader.bool()
        scaleFactor = try reader.double()
        preserveAspectRatio = try reader.bool()
        thumbnailCovers = try reader.bool()
        thumbnailPixelSize = try reader.optional { (reader) throws(WireError) in
            ImageSize(width: try reader.double(), height: try reader.double())
        }
        scaleDownLimitBytes = try reader.int()
        guard let quality = ScalingQuality(rawValue: try reader.int()) else { throw WireError("unknown quality") }
        scalingQuality = quality
        pixelFormat = try reader.optional { (reader) throws(WireError) in try PixelFormat(from: &reader) }
        formatHint = try reader.optional { (reader) throws(WireError) in ImageFormat(rawValue: try reader.int()) }
        decodeToHDR = try reader.bool()
        refusesDamagedData = try reader.bool()
        page = try reader.int()
        guard let development = RawDevelopment(rawValue: try reader.int()) else {
            throw WireError("unknown development")
        }
        rawDevelopment = development
        videoTime = try reader.optional { (reader) throws(WireError) in try reader.double() }
        limits = try ImageLimits(from: &reader)
    }
}

extension PixelFormat {
    init(from reader: inout WireReader) throws(WireError) {
        guard let format = PixelFormat(rawValue: UInt8(try reader.int(0...255, "the pixel format"))) else {
            throw WireError("unknown pixel format")
        }
        self = format
    }
}
