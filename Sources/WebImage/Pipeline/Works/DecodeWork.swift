/// Makes an image of the original bytes, and stores the bytes once they have proved to be a picture.
final class DecodeWork: Work {
    let data: DataWork
    let coder: any ImageCoder
    let options: ImageDecodeOptions
    let decodeKey: WorkKey.DecodeKey

    init(data: DataWork, coder: any ImageCoder, options: ImageDecodeOptions) {
        self.data = data
        self.coder = coder
        self.options = options
        decodeKey = WorkKey.DecodeKey(data: data.dataKey, coder: identity(of: coder), options: options)
    }

    var key: WorkKey { .decode(decodeKey) }

    func start(_ job: WorkJob) { getData(data, job) }

    private func getData(_ work: DataWork, _ job: WorkJob) {
        job.require(work) { [self] result in
            switch result {
            case .success(.data(let original)): decode(original, job)
            case .success: job.finish(.failure(WebImageError(.badImageData, "the loader delivered no data")))
            case .failure(let error): job.finish(.failure(error))
            }
        }
    }

    private func decode(_ original: OriginalData, _ job: WorkJob) {
        let url = data.load?.url
        let item = job.pipeline.decodeQueue.submit(priority: job.priority) { [self] in
            guard !job.isCancelled else { return }
            do throws(WebImageError) {
                job.finish(.success(.image(try decoded(original))))
            } catch {
                // Bytes on disk that are no picture must not stand in the way of a good download.
                if original.source == .disk, data.load != nil {
                    getData(data.fromLoader, job)
                } else {
                    job.finish(.failure(error.with(url: url)))
                }
            }
        }
        job.hold(WorkJob.Handle(cancel: { item.cancel() }, setPriority: { item.setPriority($0) }))
    }

    func decoded(_ original: OriginalData) throws(WebImageError) -> PipelineImage {
        var image = try coder.decode(original.entry.data, options: options)
        if let extended = original.entry.extendedData { image = image.with(extendedData: extended) }
        let stores = StoreGroup()
        if let store = original.store {
            store.start()
            stores.enter()
            store.whenDone { stores.leave() }
        }
        return PipelineImage(
            image: image,
            data: image.metadata.isThumbnail ? nil : original.entry.data,
            original: image.metadata.isThumbnail ? nil : image,
            source: original.source,
            loaded: original.loaded,
            stores: stores
        )
    }
}

/// Tells coders apart: classes by the object, values by their type.
private func identity(of coder: any ImageCoder) -> ObjectIdentifier {
    type(of: coder) is AnyClass ? ObjectIdentifier(coder as AnyObject) : ObjectIdentifier(type(of: coder))
}
