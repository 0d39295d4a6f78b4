/// Applies the first transformers of a chain; a longer chain builds on the result of a shorter one.
struct TransformWork: Work {
    let plan: Boxed<LoadPlan.Transform>

    private var decode: DecodeWork { DecodeWork(plan: plan.value.decode) }
    private var chain: LoadPlan.Chain { plan.value.chain }
    private var gate: TransformGate { chain.gate }
    private var memory: (cache: any ImageCaching, baseKey: String)? { plan.value.memory.value }
    private var next: (any ImageTransformer)? { plan.value.next.value }

    var key: WorkKey { .transform(plan) }

    func start(_ job: WorkJob) {
        guard let transformer = chain.last else { return requireInput(job, decode) { $0 } }
        let shorter = chain.droppingLast
        if !shorter.isEmpty, let image = memoryImage(of: shorter) {
            let input = PipelineImage(image: image, source: .memory)
            job.note(.memoryHit(key: key(of: shorter)))
            job.note(.queued(.transform))
            return job.transform(image, by: transformer, next: next) { () throws(WebImageError) in
                try job.trace.transforming(input, by: transformer)
            }
        }
        let input: any Work =
            shorter.isEmpty
            ? decode : TransformWork(plan: plan.with { ($0.chain, $0.next.value) = (shorter, transformer) })
        requireInput(job, input) { (image) throws(WebImageError) in
            try gate.admits(image.image) ? job.trace.transforming(image, by: transformer) : image
        }
    }

    private func requireInput(
        _ job: WorkJob,
        _ input: any Work,
        _ body: @escaping @Sendable (PipelineImage) throws(WebImageError) -> PipelineImage
    ) {
        let url = decode.original.fetch?.url
        let previews = decode.isProgressive ? previews(job, body) : nil
        job.require(input, values: previews) { result in
            switch result {
            case .success(.image(let image)):
                job.note(.queued(.transform))
                job.transform(image.image, by: chain.last, next: next) { () throws(WebImageError) in
                    do throws(WebImageError) { return try body(image) } catch { throw error.with(url: url) }
                }
            case .success: job.finish(.failure(WebImageError(.transformFailed, "there is no image to transform")))
            case .failure(let error): job.finish(.failure(error))
            }
        }
    }

    /// Transforms previews, one at a time; those that arrive meanwhile are skipped.
    private func previews(
        _ job: WorkJob,
        _ body: @escaping @Sendable (PipelineImage) throws(WebImageError) -> PipelineImage
    ) -> WorkValue.Receiver {
        let isBusy = Lock(false)
        return .previews { image in
            let isFree = isBusy.withLock { busy in
                defer { busy = true }
                return !busy
            }
            guard isFree else { return }
            let budget = job.pipeline.budget
            job.pipeline.decodeQueue.submit(priority: job.priority) {
                defer { isBusy.withLock { $0 = false } }
                let input = PipelineImage(image: image, source: .none)
                guard !job.isCancelled else { return }
                let output = try? budget.perform(.transforming(image, by: chain.last), evicts: false) {
                    (_) throws(WebImageError) in
                    let output = try body(input).image
                    budget.made(output)
                    return output
                }
                if let output { job.send(.preview(output)) }
            }
        }
    }

    private func key(of chain: LoadPlan.Chain) -> String {
        CacheKeys.transformed(memory?.baseKey ?? "", by: chain.key)
    }

    private func memoryImage(of chain: LoadPlan.Chain) -> Image? {
        guard let memory, let image = memory.cache.memoryImage(forKey: key(of: chain)), image.serves(decode.options),
            gate.admits(transformed: image)
        else { return nil }
        return decode.options.decodeFirstFrameOnly ? image.still : image
    }
}

extension PipelineImage {
    /// Returns the transformed image, without the bytes of the original. The image's metadata is kept if the transformer allows
    /// it, except what the transformer sets itself.
    func transformed(by transformer: any ImageTransformer) throws(WebImageError) -> PipelineImage {
        let result = try transformer.apply(to: image.withoutAnimation)
        var metadata = result.metadata
        metadata.isFirstFrame = image.metadata.isFirstFrame
        metadata.isIncremental = image.metadata.isIncremental
        metadata.scaleDownLimitBytes = image.metadata.scaleDownLimitBytes
        metadata.sourceHash = image.metadata.sourceHash
        var copy = self
        copy.image = result.with(metadata: metadata).moving(as: image.animation, by: transformer)
        copy.data = nil
        return copy
    }
}

extension Image {
    /// Returns the image with the frames of the animation that it is the first frame of, each transformed on demand.
    fileprivate func moving(as animation: AnimatedImage?, by transformer: any ImageTransformer) -> Image {
        guard let animation else { return self }
        let metadata = metadata
        let source = ImageExtent(frameOf: animation)
        let frames = animation.mapped(first: self, need: { transformer.memoryNeed(of: source) }) {
            (frame) throws(WebImageError) in
            try transformer.transform(frame).with(metadata: metadata)
        }
        return with(animation: frames)
    }
}
