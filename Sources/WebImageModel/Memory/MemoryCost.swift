package import FoundationEssentials

/// The cost of a job in a memory budget.
package enum MemoryCost: Sendable {
    /// Decoding an image, with its frames if they are to be loaded, and with room to transform it afterwards: a job that holds an
    /// image but has no room to continue would block all others.
    case decode(Data, any ImageCoder, ImageDecodeOptions, transformer: (any ImageTransformer)? = nil)
    /// A fixed number of bytes for any purpose.
    case bytes(Int)
    case nothing

    /// Returns the cost of transforming an image; 0 bytes without a transformer.
    package static func transforming(_ image: Image, by transformer: (any ImageTransformer)?) -> MemoryCost {
        .bytes(transformer?.memoryNeed(of: ImageExtent(image)).totalByteCount ?? 0)
    }

    /// The options that a decode begins with.
    var options: ImageDecodeOptions? { if case .decode(_, _, let options, _) = self { options } else { nil } }

    /// The number of bytes of a job that cannot be made smaller; nil for a decode.
    var fixedByteCount: Int? {
        switch self {
        case .decode: nil
        case .bytes(let count): count
        case .nothing: 0
        }
    }

    /// Returns the queue on which it runs: that of the threads that wait for workers, if those decode.
    func queue(else queue: WorkQueue) -> WorkQueue {
        guard case .decode(let data, let coder, _, _) = self else { return queue }
        return CodingQueue.queue(of: coder, for: data, else: queue)
    }

    /// The source policy of the load; empty for the program's own loads, and for images decoded in this process.
    var domain: String {
        guard case .decode(_, let coder, _, _) = self else { return "" }
        return (coder as? any OutOfProcessCoder)?.memoryDomain ?? ""
    }

    /// Returns the number of bytes at its peak.
    ///
    /// - Parameter options: the options in place of those that it begins with.
    /// - Throws: what the coder throws, which would refuse the image as well.
    func need(_ options: ImageDecodeOptions?) throws(WebImageError) -> Int {
        guard case .decode(let data, let coder, let own, let transformer) = self else { return fixedByteCount ?? 0 }
        return try coder.completeMemoryNeed(of: data, options: options ?? own, transformer: transformer)
    }

    /// Returns options with which it takes at most that many bytes.
    ///
    /// - Parameter attempt: the number of attempts so far: each time there may be less room.
    /// - Throws: ``WebImageError/Code/limitExceeded`` if it cannot be made that small.
    func options(
        within room: Int,
        from options: ImageDecodeOptions?,
        attempt: Int
    ) throws(WebImageError) -> ImageDecodeOptions {
        guard attempt < Self.mostAttempts, var smaller = options ?? self.options else { throw exceeds(room) }
        let limit = smaller.scaleDownLimitBytes
        smaller.scaleDownLimitBytes = limit > 0 ? min(limit, room) : room
        // The memory of a decode besides its pixels is not known in advance, so limits are tried.
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
    /// Less than 64 by 64 pixels is of no use.
    private static let leastLimit = 64 * 64 * 4
}

extension ImageCoder {
    /// Returns the number of bytes that ``completeImage(of:options:)`` takes.
    ///
    /// - Parameter transformer: the transformer that the image is given to next, whose need is included.
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
        // Frames may have alpha when the first has none. The results of custom coders are clamped.
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
