/// Brings the deliveries of a load one after the other and in their order, on whatever queue: a concurrent one would run two
/// callbacks at a time.
final class DeliveryMailbox: Sendable {
    private typealias Delivery = WebImageLoadOperation.Delivery

    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isEmptying = false
        /// The latest picture, for receivers who get the last alone.
        var held: WebImageResult?
        /// Whether there was an interim result.
        var hasInterim = false
    }

    private let state = Lock(State())

    /// Takes in a delivery; ``empty()`` must be called on the callback queue after it.
    func put(_ delivery: WebImageLoadOperation.Delivery, for receiver: WebImageLoadOperation.Receiver) {
        state.withLock { state in
            if case .interim(let result) = delivery {
                state.hasInterim = true
                if case .success(let picture) = result { state.held = picture }
            }
            if let body = Self.call(of: receiver, for: delivery, &state) { state.waiting.append(body) }
        }
    }

    /// Runs what has been put in, unless another thread is at it, which then does.
    func empty() {
        while true {
            let body = state.withLock { state -> (@Sendable () -> Void)? in
                guard !state.isEmptying, !state.waiting.isEmpty else { return nil }
                state.isEmptying = true
                return state.waiting.removeFirst()
            }
            guard let body else { return }
            body()
            state.withLock { $0.isEmptying = false }
        }
    }

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
            case .nothingMore:
                guard !state.hasInterim else { return nil }
                return { completion(.failure(missing)) }
            }
        case .last(let completion):
            let held = state.held
            switch delivery {
            case .interim: return nil
            case .nothingMore: return { completion(held.map { .success($0.asLast()) } ?? .failure(missing)) }
            case .last(.failure(let error)) where error.code != .cancelled:
                return { completion(held.map { .success($0.asLast(refreshError: error)) } ?? .failure(error)) }
            case .last(let result): return { completion(result) }
            }
        }
    }
}
