import FoundationEssentials

/// An animation whose frames are decoded in workers.
///
/// Keeps the encoded bytes. The worker that made the last frame keeps its canvas until another image needs the worker; then the
/// earlier frames must be decoded again.
final class IsolatedAnimation: OutOfProcessAnimation {
    let animatedImageData: Data?
    let frameCount: Int
    let loopCount: Int
    private let durations: [Double]
    private let coder: IsolatedImageCoder
    private let data: Data
    private let options: ImageDecodeOptions
    private let id: UInt64

    private static let lastID = Lock<UInt64>(0)

    init(_ coder: IsolatedImageCoder, _ data: Data, _ options: ImageDecodeOptions) throws(WebImageError) {
        let id = Self.lastID.withLock { last -> UInt64 in
            last += 1
            return last
        }
        guard
            case .animation(let frameCount, let loopCount, let durations) = try coder.ask(.animation(id, options), data)
                .0
        else { throw WebImageError(.decoderCrashed, "the decoder answered another request") }
        (self.frameCount, self.loopCount, self.durations) = (frameCount, loopCount, durations)
        (self.coder, self.data, self.options, self.id) = (coder, data, options, id)
        animatedImageData = data
    }

    deinit { releaseDecoder() }

    func duration(at index: Int) -> Double {
        index >= 0 && index < frameCount && index < durations.count ? durations[index] : 0
    }

    func frame(at index: Int) throws(WebImageError) -> Image {
        guard index >= 0, index < frameCount else {
            throw WebImageError(.badImageData, "there is no frame \(index) in an animation of \(frameCount)")
        }
        return try coder.image(.frame(id, index: index, options), data, options)
    }

    /// The queue whose threads wait for workers that decode its frames.
    var queue: WorkQueue { coder.pool(for: data).frames }

    func releaseDecoder() { coder.pool(for: data).forget(animation: id) }
}
