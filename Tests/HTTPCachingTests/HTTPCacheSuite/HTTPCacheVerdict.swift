import WebImage

/// What a step came to: what was delivered, and what reached the origin meanwhile.
struct HTTPCacheObservation: Sendable {
    /// The step whose picture was delivered, from 0 on; nil when the load ended with an error.
    var picture: Int?
    /// What the response says that was delivered with it.
    var headers: HTTPHeaders?
    /// The error, for reading.
    var error: String?
    /// Requests that came in the step.
    var exchanges: [HTTPCacheOrigin.Exchange] = []
}

/// Compares what was expected of the steps of a case with what they came to.
enum HTTPCacheVerdict {
    /// What is not as expected; empty when all is.
    ///
    /// - Parameter start: when the first step was answered, in seconds since 1970.
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
        if step.shouldEndWithPicture { return seen.picture == nil ? "error: \(seen.error ?? "none")" : nil }
        return seen.picture.map { "the picture of load \($0 + 1) in place of an error" }
    }

    private static func source(
        _ expectation: HTTPCacheCase.Expectation,
        _ seen: HTTPCacheObservation,
        _ index: Int
    ) -> String? {
        let requests = seen.exchanges.count
        let isOld = seen.picture.map { $0 < index } ?? true
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
            return seen.picture == nil || !isOld ? nil : "from the cache"
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
