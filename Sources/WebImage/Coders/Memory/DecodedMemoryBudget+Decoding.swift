import FoundationEssentials

extension MemoryDemand {
    var isNothing: Bool { if case .nothing = self { true } else { false } }
}

extension MemoryReservation {
    /// Holds what a worker made against what a worker said beforehand that it takes, by which it was let in.
    ///
    /// - Throws: ``WebImageError/Code/decoderCrashed`` for what is bigger. Coders of this process are believed.
    func check(_ image: Image, madeBy coder: any ImageCoder) throws(WebImageError) {
        guard coder is IsolatedImageCoder else { return }
        var seen: Set<ObjectIdentifier> = []
        let storages = image.storages.filter { seen.insert(ObjectIdentifier($0)).inserted }
        let (needed, told) = (storages.reduce(0) { $0 + $1.byteCount }, byteCount)
        guard needed <= told else {
            let problem = "the decoder answered nonsense: its picture takes \(needed) bytes, not \(told)"
            throw WebImageError(.decoderCrashed, problem)
        }
    }
}

extension DecodeAdmission {
    /// Decodes, with the options that the budget left.
    ///
    /// - Throws: what the coder throws, and ``WebImageError/Code/decoderCrashed`` for more than a worker said.
    func completeImage(of data: Data, by coder: any ImageCoder) throws(WebImageError) -> Image {
        let image = try coder.completeImage(of: data, options: options)
        try reservation?.check(image, madeBy: coder)
        return image
    }

    /// The work is over, and made this: what was reserved is given back, and the pixels count as long as they live.
    func end(with image: Image, in budget: DecodedMemoryBudget) { made(image, in: budget)?.end() }

    /// The work has made this, which counts from now on.
    ///
    /// - Parameter kept: how many bytes stay reserved for what is made of it.
    /// - Returns: to be ended when it has been stored, or let go of.
    func made(_ image: Image, in budget: DecodedMemoryBudget, keeping kept: Int = 0) -> MemoryReservation? {
        if let reservation { reservation.hold(image, keeping: kept) } else { budget.hold(image) }
        return reservation
    }
}

extension DecodedMemoryBudget {
    /// Decodes on the calling thread, which must not wait for others: what does not fit after eviction is decoded smaller or refused.
    ///
    /// - Parameters:
    ///   - transformer: what the image is given to then, for which some stays reserved.
    ///   - body: decodes as it was let in.
    /// - Returns: what is to be ended when the image has been stored, or let go of; nil when the budget is off.
    /// - Throws: what `body` and the coder throw; ``WebImageError/Code/limitExceeded`` when there is no room.
    func decodeNow(
        _ data: Data,
        coder: any ImageCoder,
        options: ImageDecodeOptions,
        transformer: (any ImageTransformer)? = nil,
        _ body: (DecodeAdmission) throws(WebImageError) -> Image
    ) throws(WebImageError) -> MemoryReservation? {
        guard isOn else {
            _ = try body(DecodeAdmission(options: options))
            return nil
        }
        let demand = MemoryDemand.decode(data, coder, options, transformer: transformer)
        var wanted = options
        for _ in 0..<8 {
            switch now(try demand.need(wanted), mayShrink: true) {
            case .admitted(let reservation):
                let image = try body(DecodeAdmission(options: wanted, reservation: reservation))
                try reservation.check(image, madeBy: coder)
                reservation.hold(image, keeping: MemoryDemand.ofTransforming(image, by: transformer))
                return reservation
            case .refused(let error): throw error
            case .smaller(let room):
                guard let smaller = demand.options(within: room, from: wanted) else {
                    throw .memoryBudgetExceeded(allowed: room, required: try demand.need(wanted))
                }
                wanted = smaller
            }
        }
        throw .memoryBudgetExceeded(allowed: byteLimit, required: try demand.need(options))
    }

    /// Makes an image that is worth none of a cache, if there is room for it that nobody waits for.
    func makeOfWhatIsLeft(_ need: @autoclosure () -> Int, _ body: () -> Image?) -> Image? {
        guard isOn else { return body() }
        guard case .admitted(let room) = now(need(), mayShrink: false, evicts: false), let image = body() else {
            return nil
        }
        room.end(holding: image)
        return image
    }

    /// Asks and is answered before this returns.
    func now(_ need: Int, mayShrink: Bool, evicts: Bool = true) -> Answer {
        let answer = Lock<Answer?>(nil)
        request(need, priority: .high, mayShrink: mayShrink, waits: false, evicts: evicts) { given in
            answer.withLock { $0 = given }
        }
        return answer.withLock { $0 } ?? .refused(.memoryBudgetExceeded(allowed: 0, required: need))
    }
}

extension CodingQueue {
    /// Decodes on a thread of the queue, within the budget of the process.
    static func decode(
        _ data: Data,
        coder: any ImageCoder,
        options: ImageDecodeOptions,
        priority: LoadPriority = .normal
    ) async throws(WebImageError) -> Image {
        let budget = DecodedMemoryBudget.shared
        let result: Result<Image, WebImageError> = await withCheckedContinuation { continuation in
            _ = shared.submit(.decode(data, coder, options), to: budget, priority: priority) { admission in
                continuation.resume(
                    returning: admission.flatMap { (admission) -> Result<Image, WebImageError> in
                        do throws(WebImageError) {
                            let image = try admission.completeImage(of: data, by: coder)
                            admission.end(with: image, in: budget)
                            return .success(image)
                        } catch {
                            return .failure(error)
                        }
                    }
                )
            }
        }
        return try result.get()
    }
}
