package import FoundationEssentials

extension DecodedMemoryBudget {
    /// The job that the calling thread does has made this: its pixels count from now on as long as they live, in place of what was reserved
    /// for the job. Without such a job they count as well, while the budget is on.
    ///
    /// - Parameter next: what the image is given to then: for that, room stays reserved as long as the job lasts.
    package func made(_ image: Image, for next: (any ImageTransformer)? = nil) {
        guard let reservation = MemoryReservation.current(of: self) else { return hold(image) }
        reservation.hold(image, keeping: MemoryCost.transforming(image, by: next).fixedByteCount ?? 0)
    }

    /// Does a job on the calling thread, which must not wait for others: what does not fit after eviction is decoded smaller or refused.
    ///
    /// - Parameters:
    ///   - evicts: false for what is worth none of a cache: it is done if there is room for it that nobody waits for.
    ///   - body: gets the options of a decode: those of the cost, or some that make less of the picture.
    /// - Throws: what `body` and the coder throw; ``WebImageError/Code/limitExceeded`` when there is no room.
    package func perform<Value>(
        _ cost: MemoryCost,
        evicts: Bool = true,
        _ body: (ImageDecodeOptions?) throws(WebImageError) -> Value
    ) throws(WebImageError) -> Value {
        var options = cost.options
        guard isOn else { return try body(options) }
        var attempt = 0
        while true {
            switch now(try cost.need(options), mayShrink: cost.fixedByteCount == nil, evicts: evicts) {
            case .admitted(let reservation):
                return try reservation.perform { () throws(WebImageError) in try body(options) }
            case .refused(let error): throw error
            case .smaller(let room):
                attempt += 1
                options = try cost.options(within: room, from: options, attempt: attempt)
            }
        }
    }

    /// Asks and is answered before this returns.
    func now(_ need: Int, mayShrink: Bool, evicts: Bool = true) -> Answer {
        let outcome = request(need, priority: .high, mayShrink: mayShrink, waits: false, evicts: evicts) { _ in }
        guard case .answered(let answer) = outcome else {
            return .refused(.memoryBudgetExceeded(allowed: 0, required: need))
        }
        return answer
    }
}

extension CodingQueue {
    /// Decodes on a thread of the queue, within the budget of the process.
    package static func decode(
        _ data: Data,
        coder: any ImageCoder,
        options: ImageDecodeOptions,
        priority: LoadPriority = .normal
    ) async throws(WebImageError) -> Image {
        let budget = DecodedMemoryBudget.shared
        let result: Result<Image, WebImageError> = await withCheckedContinuation { continuation in
            _ = shared.submit(cost: .decode(data, coder, options), of: budget, priority: priority) { given in
                let image = given.flatMap { given in
                    Result { () throws(WebImageError) in try coder.completeImage(of: data, options: given ?? options) }
                }
                if case .success(let image) = image { budget.made(image) }
                continuation.resume(returning: image)
            }
        }
        return try result.get()
    }
}
