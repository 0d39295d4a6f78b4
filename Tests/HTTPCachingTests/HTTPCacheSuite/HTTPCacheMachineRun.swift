import FoundationEssentials
import TestSupport
import WebImage

@testable import WebImageLoading

/// Runs a case against the decision functions only. A store of one record and one image per URL replaces the caches,
/// and a direct call to the origin replaces the network, so that only ``HTTPCacheMachine`` can make a difference.
final class HTTPCacheMachineRun {
    /// The key of an entry: a URL and the credentials it was requested with.
    private struct Place: Hashable {
        var url: URL
        var rights: String?
    }

    private struct Entry {
        var record: HTTPCacheRecord
        var imageStep: Int
    }

    private let test: HTTPCacheCase
    private let clock = ManualClock()
    private let origin: HTTPCacheOrigin
    private var entries: [Place: Entry] = [:]
    private var errors: [URL: Double] = [:]

    init(_ test: HTTPCacheCase) {
        self.test = test
        origin = HTTPCacheOrigin(test, clock: clock)
    }

    /// Returns the deviations from the expectations.
    func complaints() -> [String] {
        let start = clock.wallTime
        var observations: [HTTPCacheObservation] = []
        for (index, step) in test.steps.enumerated() {
            origin.begin(index)
            var observation = load(step)
            observation.exchanges = origin.exchanges.filter { $0.step == index }
            observations.append(observation)
            clock.advance(step.wait)
        }
        return HTTPCacheVerdict.complaints(test, observations, start: start)
    }

    private func load(_ step: HTTPCacheCase.Step) -> HTTPCacheObservation {
        guard let url = URL(string: "http://127.0.0.1/" + (step.query.map { "?" + $0 } ?? "")) else {
            return HTTPCacheObservation(error: "no URL")
        }
        var headers = HTTPHeaders()
        for field in origin.render(step.request, now: clock.wallTime) {
            headers.add(name: field.name, value: field.value)
        }
        let request = HTTPCacheRequest(headers: headers)
        let entry = entries[place(url, request)]
        let decision = HTTPCacheMachine.decide(
            entry?.record,
            isStored: entry != nil,
            request: request,
            policy: .http,
            now: clock.wallTime
        )
        switch (decision, entry) {
        case (.hit, let entry?): return deliver(entry, url)
        case (.serveStale, let entry?):
            let observation = deliver(entry, url)
            _ = validate(entry, url, request, ifFailing: .never)
            return observation
        case (.revalidate(_, let fallback), let entry?): return validate(entry, url, request, ifFailing: fallback)
        case (.unsatisfiable, _): return HTTPCacheObservation(error: "not cached")
        default:
            if let end = errors[url], clock.wallTime < end { return HTTPCacheObservation(error: "remembered") }
            if let entry { return validate(entry, url, request, ifFailing: .never) }
            return take(ask(url, headers), url, request)
        }
    }

    private func place(_ url: URL, _ request: HTTPCacheRequest) -> Place {
        Place(url: url, rights: LoadRights.digest(of: request.headers, nil))
    }

    private func deliver(_ entry: Entry, _ url: URL) -> HTTPCacheObservation {
        let response = HTTPCacheMachine.delivered(entry.record, url: url, now: clock.wallTime)
        return HTTPCacheObservation(imageStep: entry.imageStep, headers: response.headers)
    }

    private func validate(
        _ entry: Entry,
        _ url: URL,
        _ request: HTTPCacheRequest,
        ifFailing fallback: HTTPStaleFallback
    ) -> HTTPCacheObservation {
        let known = CacheValidators(record: entry.record)
        let conditions = StorageRule(policy: .http, request: request).conditions(from: known)?.conditions
        guard let response = ask(url, request.headers.overlaid(with: conditions ?? [:])) else {
            return fallback.whenUnreachable ? deliver(entry, url) : HTTPCacheObservation(error: "unreachable")
        }
        if response.statusCode == 304 {
            guard
                let record = HTTPCacheMachine.updated(entry.record, by: response, request: request, now: clock.wallTime)
            else { return take(ask(url, request.headers), url, request) }
            let renewed = Entry(record: record, imageStep: entry.imageStep)
            entries[place(url, request)] = renewed
            return deliver(renewed, url)
        }
        if [500, 502, 503, 504].contains(response.statusCode), fallback.whenServerFails { return deliver(entry, url) }
        return take(response, url, request)
    }

    private func ask(_ url: URL, _ headers: HTTPHeaders) -> HTTPResponse? {
        let sent = clock.wallTime
        let reply = origin.reply(to: headers)
        guard let status = reply.status else { return nil }
        var response = HTTPResponse(url: url, statusCode: status)
        for field in reply.fields { response.headers.add(name: field.name, value: field.value) }
        if status != 304 { response.headers["Content-Length"] = "\(reply.body.count)" }
        response.exchange = HTTPExchange(requestHeaders: headers, requestTime: sent, responseTime: clock.wallTime)
        return response
    }

    private func take(_ response: HTTPResponse?, _ url: URL, _ request: HTTPCacheRequest) -> HTTPCacheObservation {
        guard let response, let step = origin.exchanges.last?.step else {
            return HTTPCacheObservation(error: "unreachable")
        }
        let now = clock.wallTime
        guard (200..<300).contains(response.statusCode), response.statusCode != 204 else {
            let lifetime = HTTPCacheMachine.negativeLifetime(of: response, request: request, policy: .http, now: now)
            errors[url] = lifetime.map { now + $0 }
            return HTTPCacheObservation(headers: response.headers, error: "status \(response.statusCode)")
        }
        if HTTPCacheMachine.mayStore(response, request: request, policy: .http) {
            let record = HTTPCacheMachine.record(of: response, request: request, now: now)
            entries[place(url, request)] = Entry(record: record, imageStep: step)
        }
        return HTTPCacheObservation(imageStep: step, headers: response.headers)
    }
}
