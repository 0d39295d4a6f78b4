import FoundationEssentials
import Testing

@testable import WebImage

@Suite struct MissingPicturesTests {
    private func request(_ number: Int, _ headers: HTTPHeaders = [:]) -> MissingPictures.Request {
        MissingPictures.Request(url: URL(string: "http://host/\(number)")!, headers: headers)
    }
    private let error = WebImageError(.invalidDownloadStatusCode, "no", statusCode: 404)

    @Test func `An answer holds until its time is over, and not before it came`() {
        var missing = MissingPictures()
        missing.insert(request(1), error, at: 100, for: 10)
        #expect(missing.error(of: request(1), at: 100)?.statusCode == 404)
        #expect(missing.error(of: request(1), at: 109.9) != nil)
        #expect(missing.error(of: request(1), at: 110) == nil)
        #expect(missing.count == 0)
        missing.insert(request(1), error, at: 100, for: 10)
        #expect(missing.error(of: request(1), at: 50) == nil)
    }

    @Test func `It holds for the request that was asked, and no other`() {
        var missing = MissingPictures()
        missing.insert(request(1), error, at: 0, for: 10)
        #expect(missing.error(of: request(2), at: 1) == nil)
        #expect(missing.error(of: request(1, ["Authorization": "me"]), at: 1) == nil)
    }

    @Test(arguments: [0, -1, Double.nan])
    func `What lasts no time is not remembered`(_ seconds: Double) {
        var missing = MissingPictures()
        missing.insert(request(1), error, at: 0, for: seconds)
        #expect(missing.count == 0)
    }

    @Test func `There are never more than the limit, and those stay that hold longest`() {
        var missing = MissingPictures(limit: 10)
        for number in 1...1000 {
            missing.insert(request(number), error, at: 0, for: Double(number))
            #expect(missing.count <= 10)
            #expect(missing.error(of: request(number), at: 0.5) != nil)
        }
        var equal = MissingPictures(limit: 10)
        for number in 1...100 {
            equal.insert(request(number), error, at: 0, for: 5)
            #expect(equal.count <= 10 && equal.error(of: request(number), at: 1) != nil)
        }
    }

    @Test func `What is taken away is asked for again`() {
        var missing = MissingPictures()
        missing.insert(request(1), error, at: 0, for: 5)
        missing.remove(request(1))
        #expect(missing.error(of: request(1), at: 1) == nil)
    }

    @Test func `A URL is taken away with all its requests, and then everything`() {
        var missing = MissingPictures()
        missing.insert(request(1), error, at: 0, for: 5)
        missing.insert(request(1, ["Authorization": "me"]), error, at: 0, for: 5)
        missing.insert(request(2), error, at: 0, for: 5)
        missing.remove(request(1).url)
        #expect(missing.count == 1 && missing.error(of: request(2), at: 1) != nil)
        missing.removeAll()
        #expect(missing.count == 0)
    }

    @Test(arguments: [(100, true), (60_000, false)])
    func `A long answer is remembered without its fields`(_ byteCount: Int, _ isKept: Bool) {
        var missing = MissingPictures()
        var response = HTTPResponse(url: request(1).url, statusCode: 404)
        response.headers = ["X-Bulk": String(repeating: "x", count: byteCount)]
        var error = error
        error.response = response
        missing.insert(request(1), error, at: 0, for: 5)
        let remembered = missing.error(of: request(1), at: 1)
        #expect(remembered?.statusCode == 404 && (remembered?.response != nil) == isKept)
    }
}
