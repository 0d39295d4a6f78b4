import WebImage

/// The outcome of a step: what was delivered, and which requests reached the origin.
struct HTTPCacheObservation: Sendable {
    /// The step whose image was delivered, from 0; nil when the load ended with an error.
    var imageStep: Int?
    /// The fields of the delivered response.
    var headers: HTTPHeaders?
    /// A description of the error.
    var error: String?
    /// Requests that arrived in the step.
    var exchanges: [HTTPCacheOrigin.Exchange] = []
}

/// Compares the expectations of a case's steps with their outcome.
enum HTTPCacheVerdict {
    /// Returns the deviations; empty if there are none.
    ///
    /// - Parameter start: The time of the first response, in seconds since 1970.
    static func complaints(_ test: HTTPCacheCase, _ observations: [HTTPCacheObservation], start: Double) -> [String] {
        zip(test.steps.indices, observations).flatMap { index, observation in
            let step = test.steps[index]
            let all =
                [end(step, observation)] + [source(step.expectation, observation, index)]
                + step.delivered.map { delivered($0, observation, start: start) }
                + step.sent.map { sent($0, observation) } + step.unsent.map { unsent($0, observation) }
            return all.compactMap(\.self).map { "load \(index + 1): \($0)" }
        }
    }

    private static func end(_ step: HTTPCacheCase.Step, _ seen: HTTPCacheObservation) -> String? {
        if step.shouldEndWithImage { return seen.imageStep == nil ? "error: \(seen.error ?? "none")" : nil }
        return seen.imageStep.map { "the image of load \($0 + 1) in place of an error" }
    }

    private static func source(
        _ expectation: HTTPCacheCase.Expectation,
        _ seen: HTTPCacheObservation,
        _ index: Int
    ) -> String? {
        let requests = seen.exchanges.count
        let isOld = seen.imageStep.map { $0 < index } ?? true
        switch expectation {
        case .nothing: return nil
        case .unanswered: return requests == 0 ? nil : "the origin was asked"
        case .cached:
            if requests > 0 { return "the origin was asked" }
            return isOld ? nil : "not from the cache"
        case .behind:
            if !isOld { return "what was stored did not serve" }
            return requests == 1 ? nil : "\(requests) requests"
        case .origin:
            if requests != 1 { return "\(requests) requests" }
            return seen.imageStep == nil || !isOld ? nil : "from the cache"
        case .etag, .modified:
            let name = expectation == .etag ? "If-None-Match" : "If-Modified-Since"
            guard requests == 1, let exchange = seen.exchanges.first else { return "\(requests) requests" }
            guard exchange.request[name] != nil else { return "no \(name)" }
            guard exchange.status == 304 else { return "the origin does not know its validator" }
            return isOld ? nil : "not from the cache"
        }
    }

    private static func delivered(
        _ expectation: HTTPCacheCase.FieldExpectation,
        _ seen: HTTPCacheObservation,
        start: Double
    ) -> String? {
        guard let headers = seen.headers else { return "no response" }
        switch expectation {
        case .missing(let name): return headers[name].map { "\(name): \($0)" }
        case .present(let name): return headers[name] == nil ? "no \(name)" : nil
        case .greater(let name, let least):
            guard let value = headers[name] else { return "no \(name)" }
            return Int(value).map { $0 > least } ?? false ? nil : "\(name): \(value)"
        case .value(let field):
            let value = HTTPCacheText.filled(field.value, now: start)
            return headers[field.name] == value ? nil : "\(field.name): \(headers[field.name] ?? "missing")"
        }
    }

    private static func unsent(_ name: String, _ seen: HTTPCacheObservation) -> String? {
        seen.exchanges.compactMap { $0.request[name] }.first.map { "sent \(name): \($0)" }
    }

    private static func sent(_ field: HTTPCacheCase.Field, _ seen: HTTPCacheObservation) -> String? {
        guard let request = seen.exchanges.first?.request else { return "no request" }
        let value = request[field.name]
        return value == field.value ? nil : "sent \(field.name): \(value ?? "missing")"
    }
}
