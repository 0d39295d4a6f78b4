import FoundationEssentials

/// What a piece of work will take of a budget.
enum MemoryDemand: Sendable {
    /// Decoding a picture, with its frames if they are to be loaded, and with room to transform it then, if it is: who holds a picture and
    /// has no room to go on with it is in the way of all others.
    case decode(Data, any ImageCoder, ImageDecodeOptions, transformer: (any ImageTransformer)? = nil)
    /// So many bytes, whatever they are for.
    case bytes(Int)
    /// Nothing: what is to be done takes no memory that counts.
    case nothing

    /// The options that are begun with.
    var options: ImageDecodeOptions {
        if case .decode(_, _, let options, _) = self { options } else { ImageDecodeOptions() }
    }

    /// Where it is done: on the threads that wait for workers, if those decode.
    func queue(else queue: WorkQueue) -> WorkQueue {
        guard case .decode(let data, let coder, _, _) = self else { return queue }
        return CodingQueue.queue(of: coder, for: data, else: queue)
    }

    /// The policy for whose load it is; empty for the program's own, and for what is decoded in this process.
    var domain: String {
        guard case .decode(_, let coder, _, _) = self else { return "" }
        return (coder as? IsolatedImageCoder)?.isolation.domain ?? ""
    }

    /// Whether it can be done with less.
    var mayShrink: Bool { if case .decode = self { true } else { false } }

    /// Bytes at its peak.
    ///
    /// - Throws: what the coder throws, which would refuse the picture as well.
    func need(_ options: ImageDecodeOptions) throws(WebImageError) -> Int {
        switch self {
        case .decode(let data, let coder, _, let transformer):
            try coder.completeMemoryNeed(of: data, options: options, transformer: transformer)
        case .bytes(let count): count
        case .nothing: 0
        }
    }

    /// The options with which it takes at most so many bytes; nil when it cannot be made that small.
    func options(within room: Int, from options: ImageDecodeOptions) -> ImageDecodeOptions? {
        guard case .decode = self else { return nil }
        var smaller = options
        let limit = options.scaleDownLimitBytes
        smaller.scaleDownLimitBytes = limit > 0 ? min(limit, room) : room
        // What a decode takes besides its pixels is not known beforehand, so it is tried.
        while smaller.scaleDownLimitBytes >= Self.leastLimit {
            guard let need = try? need(smaller) else { return nil }
            if need <= room { return smaller }
            smaller.scaleDownLimitBytes -= max(smaller.scaleDownLimitBytes / 4, 1)
        }
        return nil
    }

    /// Bytes for what a transformer makes of an image; 0 without one.
    static func ofTransforming(_ image: Image, by transformer: (any ImageTransformer)?) -> Int {
        transformer?.memoryNeed(of: ImageExtent(image)).totalByteCount ?? 0
    }

    /// Less than 64 pixels by 64 are no use to anybody.
    private static let leastLimit = 64 * 64 * 4
}

extension ImageCoder {
    /// What ``completeImage(of:options:)`` takes.
    ///
    /// - Parameter transformer: what the image is given to then, for which it has to do as well.
    /// - Throws: what ``properties(of:limits:)`` throws.
    func completeMemoryNeed(
        of data: Data,
        options: ImageDecodeOptions,
        transformer: (any ImageTransformer)? = nil
    ) throws(WebImageError) -> Int {
        var need = try memoryNeed(of: data, options: options)
        if let transformer {
            let next = transformer.memoryNeed(of: try extent(of: data, options: options, need: need))
            need.workingByteCount = max(need.workingByteCount, next.totalByteCount)
        }
        guard options.preloadsAllFrames, !options.decodeFirstFrameOnly else { return need.totalByteCount }
        let properties = try properties(of: data, limits: options.limits)
        guard properties.frameCount > 1 else { return need.totalByteCount }
        // Frames may have alpha where the first has none.
        // A coder of anybody's may say anything.
        let output = min(need.outputByteCount, 1 << 48)
        let frame = BufferPool.blockSize(output / 3 * 4 + min(properties.height, 1 << 24) * 4)
        let canvas = BufferPool.blockSize(min(properties.width, 1 << 24) * min(properties.height, 1 << 24) * 4)
        let (frames, overflow) = frame.multipliedReportingOverflow(by: properties.frameCount)
        // More than that is not loaded.
        let loaded = min(overflow ? .max : frames, options.limits.maximumDecodedByteCount)
        let (sum, overflows) = need.totalByteCount.addingReportingOverflow(
            min(loaded, .max / 4) + 3 * min(canvas, .max / 8)
        )
        return overflows ? .max : sum
    }
}
