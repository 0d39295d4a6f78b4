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
        let previews = isProgressive ? Previews(self, job) : nil
        job.require(work, values: previews.map { previews in .partialData { previews.take($0) } }) { result in
            switch result {
            case .success(.data(let original)):
                guard let previews, original.source == .none else { return decode(original, job) }
                job.hold(previews.handle)
                previews.finish(original.entry.data) { decode(original, job, decoded: $0, room: $1) }
            case .success: job.finish(.failure(WebImageError(.badImageData, "the loader delivered no data")))
            case .failure(let error): job.finish(.failure(error))
            }
        }
    }

    /// - Parameters:
    ///   - image: what was decoded while the bytes arrived.
    ///   - room: what is reserved for that.
    private func decode(
        _ original: OriginalData,
        _ job: WorkJob,
        decoded image: Image? = nil,
        room: MemoryReservation? = nil
    ) {
        let url = self.original.fetch?.url
        job.note(.queued(.decode))
        let budget = job.pipeline.budget
        let demand = demand(original, decoded: image)
        // If nothing more is decoded, what was reserved for the picture while it arrived lasts until it is stored.
        let left = demand.isNothing ? room : nil
        let arrived = Lock(image)
        let body: AdmittedJob.Body = { admission in
            job.ending {
                guard !job.isCancelled else { return nil }
                do throws(WebImageError) {
                    let admission = try admission.get()
                    // Of what is not decoded the budget knows no options.
                    let options = demand.mayShrink ? admission.options : nil
                    let image = arrived.withLock { $0.take() }
                    var made = try job.trace.decoding(original.entry.data.count) { () throws(WebImageError) in
                        try decoded(original, image, options: options)
                    }
                    if demand.mayShrink { try admission.reservation?.check(made.image, madeBy: coder) }
                    made.room = self.room(for: made.image, admission, left, in: budget)
                    deliver(made, original, job)
                    return made.room
                } catch {
                    // Bytes on disk that are no picture must not stand in the way of a good download.
                    if original.source == .disk, self.original.fetch != nil, !error.isOfMemoryBudget {
                        job.note(.diskMissed(key: self.original.cacheKey ?? "", .damaged))
                        getData(self.original.fromLoader, job)
                    } else {
                        job.finish(.failure(error.with(url: url)))
                    }
                    return nil
                }
            }
        }
        let item = job.pipeline.decodeQueue.submit(
            demand,
            to: budget,
            priority: job.priority,
            isBegun: room != nil,
            former: left == nil ? room : nil,
            body
        )
        job.hold(item)
    }

    /// What stays reserved for an image that was made.
    ///
    /// - Parameter left: what was reserved while it arrived.
    private func room(
        for image: Image,
        _ admission: DecodeAdmission,
        _ left: MemoryReservation?,
        in budget: DecodedMemoryBudget
    ) -> MemoryReservation? {
        let next = MemoryDemand.ofTransforming(image, by: plan.value.transformer.value)
        guard let left else { return admission.made(image, in: budget, keeping: next) }
        left.hold(image, keeping: next)
        return left
    }

    private func deliver(_ image: PipelineImage, _ original: OriginalData, _ job: WorkJob) {
        // What nobody waits for any more is not stored either.
        guard !job.isCancelled else { return }
        job.trace.noteStore(of: original, by: self.original)
        if !job.isCancelled { job.finish(.success(.image(stored(image, original)))) }
    }

    /// What making the picture takes: nothing of one that is there.
    func demand(_ original: OriginalData, decoded image: Image? = nil) -> MemoryDemand {
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
        let hash = bytes == nil ? 0 : original.entry.source.hash
        let image = try picture(original, image, options ?? self.options)
            .with(sourceHash: hash, held: held(original, hash), extendedData: original.entry.extendedData)
        let isThumbnail = image.metadata.isThumbnail
        return PipelineImage(
            image: image,
            data: isThumbnail ? nil : bytes,
            original: isThumbnail ? nil : image,
            source: original.source,
            loaded: original.loaded,
            isStorable: original.isStorable,
            stores: StoreGroup()
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
