package import FoundationEssentials

extension DecodedMemoryBudget {
    /// Reports an image that the calling thread's job has made: its pixels count as long as they live, in place of the job's
    /// reservation. Outside a job they count as well, while the budget is on.
    ///
    /// - Parameter next: the transformer that the image is given to next: memory for it stays reserved as long as the job lasts.
    package func made(_ image: Image, for next: (any ImageTransformer)? = nil) {
        guard let reservation = MemoryReservation.current(of: self) else { return hold(image) }
        reservation.hold(image, keeping: MemoryCost.transforming(image, by: next).fixedByteCount ?? 0)
    }

    /// Moves that many bytes of the calling thread's job into a charge that outlives it, for what a decoder keeps. Nil outside a
    /// job, or if the job has reserved less.
    package func chargeOfJob(_ byteCount: Int) -> MemoryCharge? {
        MemoryReservation.current(of: self)?.charge(byteCount)
    }

    /// Runs a job on the calling thread, which must not wait for others: an image that does not fit after eviction is decoded
    /// smaller or refused.
    ///
    /// - Parameters:
    ///   - evicts: false for work that is not worth evicting cached images: it runs only if there is room that no request waits
    ///     for.
    ///   - body: gets the options of a decode: those of the cost, or some that make a smaller image.
    /// - Throws: what `body` and the coder throw; ``WebImageError/Code/limitExceeded`` if there is no room.
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

    /// Makes a request that is answered before this returns.
    func now(_ need: Int, mayShrink: Bool, evicts: Bool = true) -> Answer {
        let outcome = request(need, priority: .high, mayShrink: mayShrink, waits: false, evicts: evicts) { _ in }
        guard case .answered(let answer) = outcome else {
            return .refused(.memoryBudgetExceeded(allowed: 0, required: need))
        }
        return answer
    }
}

extension CodingQueue {
    /// Decodes on a thread of the queue, within the process-wide budget.
    package static func decode(
        _ data: Data,
        coder: any ImageCoder,
        options: ImageDecodeOptions,
        priority: LoadPriority = .normal
    ) async throws(WebImageError) -> Image {
        let budget = DecodedMemoryBudget.shared
        let result: Result<Image, WebImageError> = await awaitCompletion { completion in
            _ = shared.submit(cost: .decode(data, coder, options), of: budget, priority: priority) { given in
                let image = given.flatMap { given in
                    Result { () throws(WebImageError) in try coder.completeImage(of: data, options: given ?? options) }
                }
                if case .success(let image) = image { budget.made(image) }
                completion(image)
            }
        }
        return try result.get()
    }
}
