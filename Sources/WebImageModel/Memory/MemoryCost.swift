package import FoundationEssentials

/// What a job costs of a memory budget.
package enum MemoryCost: Sendable {
    /// Decoding a picture, with its frames if they are to be loaded, and with room to transform it then, if it is: who holds a picture and
    /// has no room to go on with it is in the way of all others.
    case decode(Data, any ImageCoder, ImageDecodeOptions, transformer: (any ImageTransformer)? = nil)
    /// So many bytes, whatever they are for.
    case bytes(Int)
    case nothing

    /// What a transformer makes of an image; nothing without one.
    package static func transforming(_ image: Image, by transformer: (any ImageTransformer)?) -> MemoryCost {
        .bytes(transformer?.memoryNeed(of: ImageExtent(image)).totalByteCount ?? 0)
    }

    /// The options that a decode begins with.
    var options: ImageDecodeOptions? { if case .decode(_, _, let options, _) = self { options } else { nil } }

    /// Bytes of what can be done with no less; nil for a decode.
    var fixedByteCount: Int? {
        switch self {
        case .decode: nil
        case .bytes(let count): count
        case .nothing: 0
        }
    }

    /// Where it is done: on the threads that wait for workers, if those decode.
    func queue(else queue: WorkQueue) -> WorkQueue {
        guard case .decode(let data, let coder, _, _) = self else { return queue }
        return CodingQueue.queue(of: coder, for: data, else: queue)
    }

    /// The policy for whose load it is; empty for the program's own, and for what is decoded in this process.
    var domain: String {
        guard case .decode(_, let coder, _, _) = self else { return "" }
        return (coder as? any PlacedCoder)?.memoryDomain ?? ""
    }

    /// Bytes at its peak.
    ///
    /// - Parameter options: in place of those that it begins with.
    /// - Throws: what the coder throws, which would refuse the picture as well.
    func need(_ options: ImageDecodeOptions?) throws(WebImageError) -> Int {
        guard case .decode(let data, let coder, let own, let transformer) = self else { return fixedByteCount ?? 0 }
        return try coder.completeMemoryNeed(of: data, options: options ?? own, transformer: transformer)
    }

    /// The options with which it takes at most so many bytes.
    ///
    /// - Parameter attempt: how often that has been tried: each time there may be less room.
    /// - Throws: ``WebImageError/Code/limitExceeded`` when it cannot be made that small.
    func options(
        within room: Int,
        from options: ImageDecodeOptions?,
        attempt: Int
    ) throws(WebImageError) -> ImageDecodeOptions {
        guard attempt < Self.mostAttempts, var smaller = options ?? self.options else { throw exceeds(room) }
        let limit = smaller.scaleDownLimitBytes
        smaller.scaleDownLimitBytes = limit > 0 ? min(limit, room) : room
        // What a decode takes besides its pixels is not known beforehand, so it is tried.
        while smaller.scaleDownLimitBytes >= Self.leastLimit, let need = try? need(smaller) {
            if need <= room { return smaller }
            smaller.scaleDownLimitBytes -= max(smaller.scaleDownLimitBytes / 4, 1)
        }
        throw exceeds(room)
    }

    private func exceeds(_ room: Int) -> WebImageError {
        .memoryBudgetExceeded(allowed: room, required: (try? need(nil)) ?? .max)
    }

    private static let mostAttempts = 8
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
