/// Brings the deliveries of a load one after the other and in their order, on whatever queue: a concurrent one would run two
/// callbacks at a time.
final class DeliveryMailbox: Sendable {
    private typealias Delivery = WebImageLoadOperation.Delivery

    private struct State {
        /// The latest picture, for receivers who get the last alone.
        var held: WebImageResult?
        /// Whether there was an interim result.
        var hasInterim = false
    }

    private let mailbox: CallbackMailbox
    private let state = Lock(State())

    init(_ queue: CallbackQueue) { mailbox = CallbackMailbox(queue) }

    /// Takes in a delivery; ``deliver()`` must be called after it.
    func put(_ delivery: WebImageLoadOperation.Delivery, for receiver: WebImageLoadOperation.Receiver) {
        state.withLock { state in
            if case .interim(let result) = delivery {
                state.hasInterim = true
                if case .success(let picture) = result { state.held = picture }
            }
            if let body = Self.call(of: receiver, for: delivery, &state) { mailbox.append(body) }
        }
    }

    /// Brings what has been put in, on the callback queue.
    func deliver() { mailbox.deliver() }

    /// What is to be done for a delivery; nil if nothing is.
    private static func call(
        of receiver: WebImageLoadOperation.Receiver,
        for delivery: Delivery,
        _ state: inout State
    ) -> (@Sendable () -> Void)? {
        let missing = WebImageError(.cacheNotModified, "the load ended without a picture")
        switch receiver {
        case .deliveries(let body): return { body(delivery) }
        case .each(let completion):
            switch delivery {
            case .interim(let result), .last(let result): return { completion(result) }
            case .preview(let picture): return { completion(.success(picture)) }
            case .nothingMore:
                guard !state.hasInterim else { return nil }
                return { completion(.failure(missing)) }
            }
        case .last(let completion):
            let held = state.held
            switch delivery {
            case .interim, .preview: return nil
            case .nothingMore: return { completion(held.map { .success($0.asLast()) } ?? .failure(missing)) }
            case .last(.failure(let error)) where error.code != .cancelled:
                return { completion(held.map { .success($0.asLast(refreshError: error)) } ?? .failure(error)) }
            case .last(let result): return { completion(result) }
            }
        }
    }
}
