import FoundationEssentials

extension DecodeWork {
    /// Makes the image from the desktop's thumbnail of the file; without a usable one, from the original.
    func query(_ thumbnails: DesktopThumbnailCache, _ job: WorkJob) {
        guard let url = original.fetch?.url else { return getData(original, job) }
        let read = WorkQueue.fileReading.submit(priority: job.priority) {
            guard !job.isCancelled else { return }
            guard let thumbnail = thumbnails.thumbnail(of: url, options: options, coder: coder) else {
                return getData(original, job)
            }
            job.note(.diskHit(key: thumbnail.path, byteCount: thumbnail.data.count))
            decode(thumbnail, job)
        }
        job.hold(read, isOvertaken: true)
    }

    private func decode(_ thumbnail: DesktopThumbnail, _ job: WorkJob) {
        job.note(.queued(.decode))
        let cost = MemoryCost.decode(
            thumbnail.data,
            coder,
            thumbnail.options,
            transformer: plan.value.transformer.value
        )
        job.perform(cost) { given in
            guard !job.isCancelled else { return }
            do throws(WebImageError) {
                let options = try given.get()
                let made = try job.trace.decoding(thumbnail.data.count) { () throws(WebImageError) in
                    // Neither stored as the original nor compared with it: the bytes are not those of the file.
                    PipelineImage(
                        image: try thumbnail.image(by: coder, options: options ?? thumbnail.options),
                        source: .disk
                    )
                }
                job.pipeline.budget.made(made.image, for: plan.value.transformer.value)
                if !job.isCancelled { job.finish(.success(.image(made))) }
            } catch {
                guard !error.isOfMemoryBudget else { return job.finish(.failure(error.with(url: original.fetch?.url))) }
                job.note(.diskMissed(key: thumbnail.path, .damaged))
                getData(original, job)
            }
        }
    }
}
