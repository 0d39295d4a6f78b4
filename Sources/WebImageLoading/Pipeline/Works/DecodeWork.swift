/// Decodes the original bytes, and stores the bytes once they are verified to be an image.
struct DecodeWork: Work {
    let plan: Boxed<LoadPlan.Decode>

    var original: OriginalWork { OriginalWork(plan: plan.value.original) }
    var coder: any ImageCoder { plan.value.coder.value }
    var options: ImageDecodeOptions { plan.value.options }
    var isProgressive: Bool { plan.value.isProgressive }

    var key: WorkKey { .decode(plan) }

    func start(_ job: WorkJob) {
        guard let thumbnails = plan.value.thumbnails?.value else { return getData(original, job) }
        query(thumbnails, job)
    }

    func getData(_ work: OriginalWork, _ job: WorkJob) {
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

    /// Returns the session that decodes while bytes arrive; nil if previews are impossible.
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
                // Without an observer it counts as unused, so that a later observer is still notified.
                guard job.pipeline.isObserved, let properties = properties() else { return false }
                let (width, height) = properties.uprightSize
                job.note(.headerRead(width: width, height: height, properties))
                return true
            },
            preview: { job.send(.preview($0)) }
        )
    }

    /// - Parameter image: The image decoded while the bytes arrived.
    private func decode(_ original: OriginalData, _ job: WorkJob, decoded image: Image? = nil) {
        job.note(.queued(.decode))
        let arrived = Lock(image)
        job.perform(cost(original, decoded: image), after: image, on: queue(original, job)) { given in
            guard !job.isCancelled else { return }
            do throws(WebImageError) {
                let options = try given.get()
                let image = arrived.withLock { $0.take() }
                let made = try job.trace.decoding(original.entry.data.count) { () throws(WebImageError) in
                    try decoded(original.reading(while: { !job.isCancelled }), image, options: options)
                }
                job.pipeline.budget.made(made.image, for: plan.value.transformer.value)
                deliver(made, original, job)
            } catch {
                // Invalid bytes on disk must not prevent a good download.
                guard original.source == .disk, self.original.fetch != nil, !error.isOfMemoryBudget else {
                    return job.finish(.failure(error.with(url: self.original.fetch?.url)))
                }
                job.note(.diskMissed(key: self.original.cacheKey ?? "", .damaged))
                getData(self.original.fromLoader, job)
            }
        }
    }

    private func deliver(_ image: PipelineImage, _ original: OriginalData, _ job: WorkJob) {
        // Unneeded images are not stored either.
        if !job.isCancelled { job.finish(.success(.image(stored(image, original, job.trace)))) }
    }

    /// Returns the queue on which a file that is read in parts is decoded; nil for the queue of the bytes' coder.
    func queue(_ original: OriginalData, _ job: WorkJob) -> WorkQueue? {
        original.byteSource.map { CodingQueue.queue(of: coder, for: $0.beginning, else: job.pipeline.decodeQueue) }
    }

    /// Returns the memory cost of the image; nothing for one that is decoded already, and for a file that is read in parts, whose header would
    /// have to be read first.
    func cost(_ original: OriginalData, decoded image: Image? = nil) -> MemoryCost {
        if let image = original.loaded?.image {
            let need = image.reductionNeed(by: options).totalByteCount
            return need > 0 ? .bytes(need) : .nothing
        }
        // The frames after the first have yet to be decoded.
        let isComplete = !options.preloadsAllFrames || options.decodeFirstFrameOnly
        if image != nil, isComplete { return .nothing }
        guard !original.entry.data.isEmpty else { return .nothing }
        return .decode(original.entry.data, coder, options, transformer: plan.value.transformer.value)
    }

    /// - Parameters:
    ///   - image: The image decoded while the bytes arrived.
    ///   - options: Replaces the work's own, to decode a smaller image.
    func decoded(
        _ original: OriginalData,
        _ image: Image? = nil,
        options: ImageDecodeOptions? = nil
    ) throws(WebImageError) -> PipelineImage {
        let bytes = original.isWithoutBytes || original.isVideo ? nil : original.entry.data
        let hash = original.isWithoutBytes || !plan.value.notesSource ? 0 : original.entry.sourceHash
        let image = try makeImage(original, image, options ?? self.options)
            .with(sourceHash: hash, held: held(original, hash), extendedData: original.entry.extendedData)
        // The bytes are those of the whole file, whose key is that of its first page or preview in full size.
        let isDeveloped = self.options.rawDevelopment == .full && image.format == .raw
        let isPart = image.metadata.isThumbnail || self.options.page != 0 || isDeveloped
        return PipelineImage(
            image: image,
            data: isPart ? nil : bytes,
            original: isPart ? nil : image,
            source: original.source,
            loaded: original.loaded,
            isStorable: original.isStorable,
            losesRange: losesRange(image, original)
        )
    }

    /// Returns whether the image is a still whose entry on disk would hide that the video has high dynamic range. Loads that keep it do not
    /// query the disk, if the URL has the extension of a video.
    private func losesRange(_ image: Image, _ original: OriginalData) -> Bool {
        guard original.isVideo, let fetch = self.original.fetch?.plan.value, wholeImage(image) != nil,
            !ImageFormat.isVideo(address: fetch.address)
        else { return false }
        let (limits, data) = (options.limits, original.entry.data)
        let properties = Result { () throws(WebImageError) in
            guard data.isEmpty, let source = original.byteSource else {
                return try coder.properties(of: data, limits: limits)
            }
            let format = ImageFormat(detecting: source.beginning)
            return try coder.decodingSources(of: format).properties(of: source, limits: limits)
        }
        return (try? properties.get())?.isHighDynamicRange ?? true
    }

    /// Returns the validators to attach to images whose bytes are not stored.
    private func held(_ original: OriginalData, _ hash: UInt64) -> ImageValidators? {
        guard self.original.rule.policy != .immutable, !self.original.storesDisk, original.isStorable, hash != 0,
            let response = original.loaded?.response
        else { return nil }
        return ImageValidators(self.original.rule.validators(of: response, receivedHash: hash))
    }

    private func makeImage(
        _ original: OriginalData,
        _ image: Image?,
        _ options: ImageDecodeOptions
    ) throws(WebImageError) -> Image {
        if let image = original.loaded?.image {
            guard options.page == 0 else { throw .pageNotFound(options.page, of: 1) }
            return try image.reduced(by: options)
        }
        if let source = original.byteSource {
            let format = ImageFormat(detecting: source.beginning)
            return try coder.decodingSources(of: format).decode(source, options: options)
        }
        if let image { return try coder.complete(image, of: original.entry.data, options: options) }
        return try coder.completeImage(of: original.entry.data, options: options)
    }

    /// Starts the write of the original bytes, if they are to be stored and no other work has started it.
    private func stored(_ image: PipelineImage, _ original: OriginalData, _ trace: LoadTrace) -> PipelineImage {
        guard let store = original.store else { return image }
        var contents = contents(original.isVideo ? replacement(image) : wholeImage(image.image))
        contents.seen = image.image
        store.start(contents) { trace.noteStore(of: original, by: self.original) }
        // Does not capture the image, which would stay in memory until everything is written.
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

    /// Returns the image if it represents all of the bytes: not a thumbnail, not scaled down, and not a part of an animation.
    func wholeImage(_ image: Image) -> Image? {
        let metadata = image.metadata
        let isPart = metadata.isThumbnail || metadata.isTransformed || metadata.scaleDownLimitBytes > 0
        return isPart || options.decodeFirstFrameOnly ? nil : image
    }

    /// Returns the image if it may be stored in place of the bytes: all that they represent, and without damage or high dynamic range, of
    /// which the entry would tell nothing.
    func replacement(_ made: PipelineImage) -> Image? {
        made.image.metadata.isDamaged || made.losesRange ? nil : wholeImage(made.image)
    }
}
