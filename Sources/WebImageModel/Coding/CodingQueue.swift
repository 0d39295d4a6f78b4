import CLinux
package import FoundationEssentials

/// The process-wide threads that decode, transform and encode, one for each processor; and separate ones for frames of animations
/// that play.
///
/// Loads and frames do not wait for each other: the scheduler shares the processors between the two, half and half if both have
/// more work than there is time for. In one queue, either would starve the other: a load may take as long as a hundred frames, a
/// frame is late after a few hundredths of a second, and animations request frames without end.
package enum CodingQueue {
    package static let shared = WorkQueue(name: "webimage.coding", width: processorCount)

    /// The queue for frames of animations that play, ordered by deadline: high priority for a frame that is due, normal for the one
    /// after it or after the one that is shown, low for others.
    package static let frames = WorkQueue(name: "webimage.frames", width: processorCount)

    /// Returns the queue for a coder's work. An out-of-process coder has a separate queue, whose threads wait for its workers, so that
    /// waiting does not occupy the threads of `queue`. All other work runs on `queue`.
    package static func queue(of coder: any ImageCoder, for data: Data, else queue: WorkQueue = shared) -> WorkQueue {
        (coder as? any OutOfProcessCoder)?.queue(for: data) ?? queue
    }

    /// Returns the queue for work that reads frames of an animation, by the same rule.
    package static func queue(of animation: (any AnimatedImageProvider)?, else queue: WorkQueue = shared) -> WorkQueue {
        (animation?.frameDecoder as? any OutOfProcessAnimation)?.queue ?? queue
    }

    /// The number of processors that this process may use, at least 1.
    package static let processorCount = max(Int(webimage_processor_count()), 1)

    /// Returns the maximum number of threads that decode one image of that size when processors are idle: 1 for small images, which
    /// gain nothing from more threads, and for huge ones, which would make other jobs wait long for the reserved places. Estimates of
    /// memory assume the maximum.
    package static func mostThreads(forPixelCount pixelCount: Int) -> Int {
        (1 << 19...1 << 26).contains(pixelCount) ? min(shared.width, 8) : 1
    }

    /// Runs `body` with the number of threads for the decoder of one image: more than 1 if the image is large and processors are
    /// idle. Images that are decoded by jobs of the queue have no more threads together than there are processors.
    ///
    /// - Parameter most: The maximum number of threads that the decoder can use.
    package static func withThreads<Value, Failure: Error>(
        forPixelCount pixelCount: Int,
        upTo most: Int = .max,
        _ body: (_ count: Int) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let extra = min(mostThreads(forPixelCount: pixelCount), most) - 1
        return try shared.withReservedPlaces(upTo: extra) { (count) throws(Failure) in try body(1 + count) }
    }

    /// Returns the number of rows of each band but the last, a multiple of 16: less than that is not worth another thread.
    static func bandSize(rowCount: Int, count: Int) -> Int { ((rowCount + count - 1) / count + 15) & ~15 }

    /// Computes the rows of an image: in bands at the same time if the image is large and processors are idle.
    ///
    /// - Parameters:
    ///   - rowCount: The number of rows.
    ///   - pixelCount: The number of pixels that have to be read or written.
    ///   - body: Computes a band. It may be called by several threads at the same time.
    package static func performInBands<Failure: Error>(
        rowCount: Int,
        pixelCount: Int,
        _ body: @escaping @Sendable (_ rows: Range<Int>) throws(Failure) -> Void
    ) throws(Failure) {
        let most = mostThreads(forPixelCount: pixelCount)
        let count = most > 1 ? min(most, shared.idlePlaceCount + 1) : 1
        let size = bandSize(rowCount: rowCount, count: count)
        guard count > 1, size < rowCount else { return try body(0..<rowCount) }
        let failure = Lock<Failure?>(nil)
        shared.perform(parts: (rowCount + size - 1) / size) { index in
            do throws(Failure) {
                try body(index * size..<min((index + 1) * size, rowCount))
            } catch {
                failure.withLock { $0 = $0 ?? error }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
