/// Makes an image of the original bytes, and stores the bytes once they have proved to be a picture.
struct DecodeWork: Work {
    let plan: Boxed<LoadPlan.Decode>

    var original: OriginalWork { OriginalWork(plan: plan.value.original) }
    var coder: any ImageCoder { plan.value.coder.value }
    var options: ImageDecodeOptions { plan.value.options }
    var isProgressive: Bool { plan.value.isProgressive }

    var key: WorkKey { .decode(plan) }

    func start(_ job: WorkJob) { getData(original, job) }

    private func getData(_ work: OriginalWork, _ job: WorkJob) {
        let previews = previews(job)
        if let previews { job.hold(previews) }
        job.require(work, values: previews.map { previews in .partialData { previews.take($0) } }) { result in
            if let previews, case .success(.data(let original)) = result, original.source == .none {
                return previews.finish(original.entry.data) { decode(original, job, decoded: $0) }
            }
            previews?.cancel()
            switch result {
            case .success(.data(let original)): decode(original, job)
            case .success: job.finish(.failure(WebImageError(.badImageData, "the loader delivered no data")))
            case .failure(let error): job.finish(.failure(error))
            }
        }
    }

    /// What decodes while the bytes arrive; nil when there can be no previews.
    private func previews(_ job: WorkJob) -> ProgressiveSession? {
        guard isProgressive, let coder = coder as? any ProgressiveImageCoder else { return nil }
        return ProgressiveSession(
            coder: coder,
            options: options,
            priority: job.priority,
            queue: job.pipeline.decodeQueue,
            clock: job.pipeline.clock,
            budget: job.pipeline.budget,
            header: { properties in
                // Who comes to observe later is still told, since only then anybody was.
                guard job.pipeline.isObserved, let properties = properties() else { return false }
                let (width, height) = properties.uprightSize
                job.note(.headerRead(width: width, height: height, properties))
                return true
            },
            preview: { job.send(.preview($0)) }
        )
    }

    /// - Parameter image: what was decoded while the bytes arrived.
    private func decode(_ original: OriginalData, _ job: WorkJob, decoded image: Image? = nil) {
        job.note(.queued(.decode))
        let arrived = Lock(image)
        job.perform(cost(original, decoded: image), after: image) { given in
            guard !job.isCancelled else { return }
            do throws(WebImageError) {
                let options = try given.get()
                let image = arrived.withLock { $0.take() }
                let made = try job.trace.decoding(original.entry.data.count) { () throws(WebImageError) in
                    try decoded(original, image, options: options)
                }
                job.pipeline.budget.made(made.image, for: plan.value.transformer.value)
                deliver(made, original, job)
            } catch {
                // Bytes on disk that are no picture must not stand in the way of a good download.
                guard original.source == .disk, self.original.fetch != nil, !error.isOfMemoryBudget else {
                    return job.finish(.failure(error.with(url: self.original.fetch?.url)))
                }
                job.note(.diskMissed(key: self.original.cacheKey ?? "", .damaged))
                getData(self.original.fromLoader, job)
            }
        }
    }

    private func deliver(_ image: PipelineImage, _ original: OriginalData, _ job: WorkJob) {
        // What nobody waits for any more is not stored either.
        guard !job.isCancelled else { return }
        job.trace.noteStore(of: original, by: self.original)
        if !job.isCancelled { job.finish(.success(.image(stored(image, original)))) }
    }

    /// What making the picture costs: nothing of one that is there.
    func cost(_ original: OriginalData, decoded image: Image? = nil) -> MemoryCost {
        if let image = original.loaded?.image {
            let need = image.reductionNeed(by: options).totalByteCount
            return need > 0 ? .bytes(need) : .nothing
        }
        // The frames that follow the first are still to be decoded.
        let isComplete = !options.preloadsAllFrames || options.decodeFirstFrameOnly
        if image != nil, isComplete { return .nothing }
        guard !original.entry.data.isEmpty else { return .nothing }
        return .decode(original.entry.data, coder, options, transformer: plan.value.transformer.value)
    }

    /// - Parameters:
    ///   - image: what was decoded while the bytes arrived.
    ///   - options: in place of the work's own, to make less of the picture.
    func decoded(
        _ original: OriginalData,
        _ image: Image? = nil,
        options: ImageDecodeOptions? = nil
    ) throws(WebImageError) -> PipelineImage {
        let bytes = original.isWithoutBytes ? nil : original.entry.data
        let hash = bytes == nil ? 0 : original.entry.sourceHash
        let image = try picture(original, image, options ?? self.options)
            .with(sourceHash: hash, held: held(original, hash), extendedData: original.entry.extendedData)
        let isThumbnail = image.metadata.isThumbnail
        return PipelineImage(
            image: image,
            data: isThumbnail ? nil : bytes,
            original: isThumbnail ? nil : image,
            source: original.source,
            loaded: original.loaded,
            isStorable: original.isStorable
        )
    }

    /// What the images keep in mind of an answer whose bytes are not kept.
    private func held(_ original: OriginalData, _ hash: UInt64) -> HeldValidators? {
        guard self.original.rule.policy != .immutable, !self.original.storesDisk, original.isStorable, hash != 0,
            let response = original.loaded?.response
        else { return nil }
        return HeldValidators(self.original.rule.validators(of: response, receivedHash: hash))
    }

    private func picture(
        _ original: OriginalData,
        _ image: Image?,
        _ options: ImageDecodeOptions
    ) throws(WebImageError) -> Image {
        if let image = original.loaded?.image { return try image.reduced(by: options) }
        if let image { return try coder.complete(image, of: original.entry.data, options: options) }
        return try coder.completeImage(of: original.entry.data, options: options)
    }

    /// Starts the write of the original bytes, if they are to be written and nobody has.
    private func stored(_ image: PipelineImage, _ original: OriginalData) -> PipelineImage {
        guard let store = original.store else { return image }
        var contents = contents(wholePicture(image.image))
        contents.seen = image.image
        store.start(contents)
        // Not the image, which would stay in memory until all is written.
        let stores = image.stores
        stores.enter()
        store.whenDone { stores.leave() }
        return image
    }

    func contents(_ image: Image?) -> StoreContents {
        StoreContents(
            image: image,
            coder: coder,
            encodeOptions: plan.value.encodeOptions.value?.value ?? ImageEncodeOptions()
        )
    }

    /// The image if it is all that the bytes are: no thumbnail, not made smaller, and not a part of an animation.
    func wholePicture(_ image: Image) -> Image? {
        let metadata = image.metadata
        let isPart = metadata.isThumbnail || metadata.isTransformed || metadata.scaleDownLimitBytes > 0
        return isPart || options.decodeFirstFrameOnly ? nil : image
    }
}
