/// Gets the original bytes of an image from a loader, and stores them on disk once they are verified to be an image.
struct StoreWork: Work {
    let plan: Boxed<LoadPlan.Store>

    init(plan: Boxed<LoadPlan.Store>) { self.plan = plan }

    /// - Parameter decodes: True to decode the image; otherwise only its header is parsed.
    init(decode: DecodeWork, decodes: Bool) {
        let fromLoader = LoadPlan.Decode(
            original: decode.original.fromLoader.plan,
            coder: decode.coder,
            options: decode.options,
            encodeOptions: decode.plan.value.encodeOptions.value
        )
        plan = Boxed(LoadPlan.Store(decode: Boxed(fromLoader), decodes: decodes))
    }

    private var decode: DecodeWork { DecodeWork(plan: plan.value.decode) }

    var key: WorkKey { .store(plan) }

    func start(_ job: WorkJob) {
        job.require(decode.original) { result in
            switch result {
            case .success(.data(let original)): check(original, job)
            case .success: job.finish(.failure(WebImageError(.badImageData, "the load returned no data")))
            case .failure(let error): job.finish(.failure(error))
            }
        }
    }

    private func check(_ original: OriginalData, _ job: WorkJob) {
        // Of a video, only the still is stored.
        let decodes = original.isVideo || plan.value.decodes && !original.isWithoutBytes
        // The header of an isolated format is parsed by a worker, too.
        let ownQueue = CodingQueue.queue(of: decode.coder, for: original.entry.data, else: job.pipeline.decodeQueue)
        let queue = decode.queue(original, job) ?? ownQueue
        job.perform(decodes ? decode.cost(original) : .nothing, on: queue) { given in
            guard !job.isCancelled else { return }
            var contents = decode.contents(nil)
            do throws(WebImageError) {
                let options = try given.get()
                if decodes {
                    let made = try decode.decoded(original.reading(while: { !job.isCancelled }), options: options)
                    job.pipeline.budget.made(made.image)
                    if original.isVideo { contents = decode.contents(decode.replacement(made)) }
                    contents.seen = made.image
                } else if !original.isWithoutBytes {
                    _ = try decode.coder.properties(of: original.entry.data, limits: decode.options.limits)
                }
            } catch {
                return job.finish(.failure(error.with(url: decode.original.fetch?.url)))
            }
            store(original, contents, job)
        }
    }

    private func store(_ original: OriginalData, _ contents: StoreContents, _ job: WorkJob) {
        guard let store = original.store else {
            return job.finish(.failure(.notStorable(decode.original.fetch?.url)))
        }
        store.start(contents) { job.trace.noteStore(of: original, by: decode.original) }
        store.whenDone { job.finish(.success(.data(original))) }
    }
}
