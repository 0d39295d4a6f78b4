import FoundationEssentials
import TestSupport
import WebImage

/// Runs cases with a manager, a downloader and a cache against a loopback server.
final class HTTPCacheManagerRun: Sendable {
    private let origins = Lock<[String: HTTPCacheOrigin]>([:])
    private let server: LoopbackServer

    init() throws {
        let origins = origins
        server = try LoopbackServer { request in
            let origin = origins.withLock { $0[request.path] }
            return origin?.response(to: request) ?? .response(404)
        }
    }

    /// Returns the deviations from the expectations.
    ///
    /// - Parameter forgets: Indicates whether everything that is not on disk is forgotten before each load.
    func complaints(_ test: HTTPCacheCase, forgets: Bool) async -> [String] {
        let clock = ManualClock()
        let start = clock.wallTime
        let origin = HTTPCacheOrigin(test, clock: clock)
        let path = "/" + test.id
        origins.withLock { $0[path] = origin }
        defer { origins.withLock { $0[path] = nil } }
        let client = HTTPCacheClient(clock: clock)
        var observations: [HTTPCacheObservation] = []
        for (index, step) in test.steps.enumerated() {
            origin.begin(index)
            if forgets, index > 0 { await client.restart() }
            let url = server.url(path + (step.query.map { "?" + $0 } ?? ""))
            observations.append(await observe(step, index, url, client, origin))
            clock.advance(step.wait)
        }
        return HTTPCacheVerdict.complaints(test, observations, start: start)
    }

    private func observe(
        _ step: HTTPCacheCase.Step,
        _ index: Int,
        _ url: URL,
        _ client: HTTPCacheClient,
        _ origin: HTTPCacheOrigin
    ) async -> HTTPCacheObservation {
        var headers = HTTPHeaders()
        for field in origin.render(step.request, now: client.clock.wallTime) {
            headers.add(name: field.name, value: field.value)
        }
        let outcome = await client.load(url, headers: headers, options: .retryFailed)
        var observation = HTTPCacheObservation(exchanges: origin.exchanges.filter { $0.step == index })
        switch outcome.first {
        case .success(let result)?:
            observation.imageStep = result.image.pixelWidth - 1
            observation.headers = result.response?.headers
        case .failure(let error)?:
            observation.error = "\(error)"
            observation.headers = error.response?.headers
        case nil: observation.error = "nothing was delivered"
        }
        return observation
    }
}
