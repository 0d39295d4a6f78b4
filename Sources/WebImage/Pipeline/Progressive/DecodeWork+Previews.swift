import FoundationEssentials

extension DecodeWork {
    /// The previews of a decode whose bytes are still arriving.
    final class Previews: Sendable {
        private let session: ProgressiveSession
        private let attempt = Lock(0)

        /// Nil when there can be none.
        init?(_ work: DecodeWork, _ job: WorkJob) {
            guard let coder = work.coder as? any ProgressiveImageCoder else { return nil }
            session = ProgressiveSession(
                coder: coder,
                options: work.options,
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

        deinit { session.cancel() }

        /// Takes what has arrived so far.
        func take(_ snapshot: PartialImageData.Snapshot) {
            attempt.withLock { $0 = snapshot.attempt }
            session.take(snapshot)
        }

        /// For the job to hold while the end is decoded.
        var handle: any RunningWork { session }

        /// Decodes what is left.
        ///
        /// - Parameter completion: called on a decode thread; with nil when the picture has to be decoded at once.
        func finish(_ data: Data, then completion: @escaping ProgressiveSession.Completion) {
            // Kept until then: with the object the session would be cancelled.
            session.finish(data, attempt: attempt.withLock { $0 }) { [self] image in
                withExtendedLifetime(self) { completion(image) }
            }
        }
    }
}
