import Testing
import WebImage

/// The outcomes of a load that count as expected.
@Suite struct HTTPCacheVerdictTests {
    private func complaints(_ step: HTTPCacheCase.Step, _ seen: HTTPCacheObservation) -> [String] {
        // The outcome of the second of two loads.
        let test = HTTPCacheCase(id: "a", kind: .check, group: "b", steps: [HTTPCacheCase.Step(), step])
        return HTTPCacheVerdict.complaints(test, [HTTPCacheObservation(imageStep: 0), seen], start: 0)
    }

    private func isAsExpected(
        _ expectation: HTTPCacheCase.Expectation,
        imageStep: Int?,
        _ exchanges: HTTPCacheOrigin.Exchange...
    ) -> Bool {
        var step = HTTPCacheCase.Step(expectation: expectation)
        step.endsWithImage = imageStep != nil
        return complaints(step, HTTPCacheObservation(imageStep: imageStep, exchanges: exchanges)).isEmpty
    }

    private let plain = HTTPCacheOrigin.Exchange(step: 1, request: [:], status: 200)
    private let validated = HTTPCacheOrigin.Exchange(step: 1, request: ["If-None-Match": "\"a\""], status: 304)
    private let refused = HTTPCacheOrigin.Exchange(step: 1, request: ["If-None-Match": "\"b\""], status: 200)

    @Test func `cached expects an earlier image without a request`() {
        #expect(isAsExpected(.cached, imageStep: 0) && isAsExpected(.cached, imageStep: nil))
        #expect(!isAsExpected(.cached, imageStep: 1) && !isAsExpected(.cached, imageStep: 0, validated))
        #expect(isAsExpected(.behind, imageStep: 0, plain))
        #expect(!isAsExpected(.behind, imageStep: 0) && !isAsExpected(.behind, imageStep: 1, plain))
    }

    @Test func `origin expects the image of this load, with one request`() {
        #expect(isAsExpected(.origin, imageStep: 1, plain) && isAsExpected(.origin, imageStep: nil, plain))
        #expect(!isAsExpected(.origin, imageStep: 0, plain) && !isAsExpected(.origin, imageStep: 1, plain, plain))
        #expect(!isAsExpected(.origin, imageStep: 1))
    }

    @Test func `etag and modified expect an earlier image after a 304`() {
        #expect(isAsExpected(.etag, imageStep: 0, validated) && !isAsExpected(.modified, imageStep: 0, validated))
        #expect(!isAsExpected(.etag, imageStep: 0) && !isAsExpected(.etag, imageStep: 1, refused))
        #expect(!isAsExpected(.etag, imageStep: 0, validated, plain) && !isAsExpected(.etag, imageStep: 1, validated))
    }

    @Test func `unanswered expects an error without a request`() {
        #expect(isAsExpected(.unanswered, imageStep: nil) && !isAsExpected(.unanswered, imageStep: nil, plain))
        #expect(isAsExpected(.nothing, imageStep: 0, plain, plain))
    }

    @Test func `The load's ending is checked`() {
        var step = HTTPCacheCase.Step()
        #expect(complaints(step, HTTPCacheObservation(error: "no")).count == 1)
        step.answer.status = 503
        #expect(complaints(step, HTTPCacheObservation(error: "no")).isEmpty)
        #expect(complaints(step, HTTPCacheObservation(imageStep: 0)).count == 1)
    }

    @Test func `Fields that must not be sent are looked for in all requests`() {
        let step = HTTPCacheCase.Step(unsent: ["If-None-Match"])
        #expect(complaints(step, HTTPCacheObservation(imageStep: 1, exchanges: [plain])).isEmpty)
        #expect(complaints(step, HTTPCacheObservation(imageStep: 1, exchanges: [plain, refused])).count == 1)
    }

    @Test func `Expected fields are checked`() {
        var step = HTTPCacheCase.Step()
        step.delivered = [
            .greater(name: "Age", than: 2), .missing("B"), .present("C"), .value(.init(name: "D", value: "{now+1}")),
        ]
        step.sent = [.init(name: "E", value: "1")]
        let right: HTTPHeaders = ["Age": "3", "C": "", "D": "Thu, 01 Jan 1970 00:00:01 GMT"]
        let exchange = HTTPCacheOrigin.Exchange(step: 1, request: ["E": "1"], status: 200)
        #expect(complaints(step, HTTPCacheObservation(imageStep: 1, headers: right, exchanges: [exchange])).isEmpty)
        let wrong: HTTPHeaders = ["Age": "2", "B": "", "D": "1"]
        #expect(complaints(step, HTTPCacheObservation(imageStep: 1, headers: wrong, exchanges: [plain])).count == 5)
        #expect(complaints(step, HTTPCacheObservation(imageStep: 1)).count == 5)
    }
}
