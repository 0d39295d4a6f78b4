import Testing
import WebImage

/// What counts as the expected outcome of a load, and what does not.
@Suite struct HTTPCacheVerdictTests {
    private func complaints(_ step: HTTPCacheCase.Step, _ seen: HTTPCacheObservation) -> [String] {
        // As the second of two loads.
        let test = HTTPCacheCase(id: "a", kind: .check, group: "b", steps: [HTTPCacheCase.Step(), step])
        return HTTPCacheVerdict.complaints(test, [HTTPCacheObservation(picture: 0), seen], start: 0)
    }

    private func isAsExpected(
        _ expectation: HTTPCacheCase.Expectation,
        picture: Int?,
        _ exchanges: HTTPCacheOrigin.Exchange...
    ) -> Bool {
        var step = HTTPCacheCase.Step(expectation: expectation)
        step.endsWithPicture = picture != nil
        return complaints(step, HTTPCacheObservation(picture: picture, exchanges: exchanges)).isEmpty
    }

    private let plain = HTTPCacheOrigin.Exchange(step: 1, request: [:], status: 200)
    private let validated = HTTPCacheOrigin.Exchange(step: 1, request: ["If-None-Match": "\"a\""], status: 304)
    private let refused = HTTPCacheOrigin.Exchange(step: 1, request: ["If-None-Match": "\"b\""], status: 200)

    @Test func `Cached is an earlier picture without a request`() {
        #expect(isAsExpected(.cached, picture: 0) && isAsExpected(.cached, picture: nil))
        #expect(!isAsExpected(.cached, picture: 1) && !isAsExpected(.cached, picture: 0, validated))
        #expect(isAsExpected(.behind, picture: 0, plain))
        #expect(!isAsExpected(.behind, picture: 0) && !isAsExpected(.behind, picture: 1, plain))
    }

    @Test func `From the origin is the picture of this load, with one request`() {
        #expect(isAsExpected(.origin, picture: 1, plain) && isAsExpected(.origin, picture: nil, plain))
        #expect(!isAsExpected(.origin, picture: 0, plain) && !isAsExpected(.origin, picture: 1, plain, plain))
        #expect(!isAsExpected(.origin, picture: 1))
    }

    @Test func `Validated is an earlier picture after a 304`() {
        #expect(isAsExpected(.etag, picture: 0, validated) && !isAsExpected(.modified, picture: 0, validated))
        #expect(!isAsExpected(.etag, picture: 0) && !isAsExpected(.etag, picture: 1, refused))
        #expect(!isAsExpected(.etag, picture: 0, validated, plain) && !isAsExpected(.etag, picture: 1, validated))
    }

    @Test func `Unanswered is an error without a request`() {
        #expect(isAsExpected(.unanswered, picture: nil) && !isAsExpected(.unanswered, picture: nil, plain))
        #expect(isAsExpected(.nothing, picture: 0, plain, plain))
    }

    @Test func `How the load ends is looked at`() {
        var step = HTTPCacheCase.Step()
        #expect(complaints(step, HTTPCacheObservation(error: "no")).count == 1)
        step.answer.status = 503
        #expect(complaints(step, HTTPCacheObservation(error: "no")).isEmpty)
        #expect(complaints(step, HTTPCacheObservation(picture: 0)).count == 1)
    }

    @Test func `Fields that must not be sent are looked for in all requests`() {
        let step = HTTPCacheCase.Step(unsent: ["If-None-Match"])
        #expect(complaints(step, HTTPCacheObservation(picture: 1, exchanges: [plain])).isEmpty)
        #expect(complaints(step, HTTPCacheObservation(picture: 1, exchanges: [plain, refused])).count == 1)
    }

    @Test func `Fields are looked at`() {
        var step = HTTPCacheCase.Step()
        step.delivered = [
            .greater(name: "Age", than: 2), .missing("B"), .present("C"), .value(.init(name: "D", value: "{now+1}")),
        ]
        step.sent = [.init(name: "E", value: "1")]
        let right: HTTPHeaders = ["Age": "3", "C": "", "D": "Thu, 01 Jan 1970 00:00:01 GMT"]
        let exchange = HTTPCacheOrigin.Exchange(step: 1, request: ["E": "1"], status: 200)
        #expect(complaints(step, HTTPCacheObservation(picture: 1, headers: right, exchanges: [exchange])).isEmpty)
        let wrong: HTTPHeaders = ["Age": "2", "B": "", "D": "1"]
        #expect(complaints(step, HTTPCacheObservation(picture: 1, headers: wrong, exchanges: [plain])).count == 5)
        #expect(complaints(step, HTTPCacheObservation(picture: 1)).count == 5)
    }
}
