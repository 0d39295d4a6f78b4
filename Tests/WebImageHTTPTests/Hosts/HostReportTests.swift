import FoundationEssentials
import ModelTestSupport
import Testing

@testable import WebImageHTTP

@Suite struct HostReportTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var status: Int?
        var hasBody = false
        var code: WebImageError.Code?
        var curl: Int?
        let kind: HostReport.Kind

        var testDescription: String {
            "\(status ?? 0) \(hasBody ? "body" : "no body") \(code?.rawValue ?? 0) \(curl ?? 0) \(kind)"
        }
    }

    @Test(arguments: [
        // Nothing arrived.
        Row(code: .cannotFindHost, kind: .failed), Row(code: .cannotConnectToHost, kind: .failed),
        Row(code: .timedOut, kind: .failed), Row(code: .networkConnectionLost, kind: .failed),
        Row(code: .secureConnectionFailed, kind: .failed), Row(code: .secureConnectionFailed, curl: 35, kind: .failed),
        Row(code: .secureConnectionFailed, curl: 60, kind: .silent), Row(code: .transportFailed, kind: .silent),
        Row(code: .cancelled, kind: .silent), Row(code: .badRedirect, kind: .silent),
        Row(code: .invalidDownloadOperation, kind: .silent), Row(code: .outOfMemory, kind: .silent),
        Row(code: .limitExceeded, kind: .silent), Row(kind: .silent),
        // A head arrived.
        Row(status: 200, kind: .answered), Row(status: 404, code: .invalidDownloadStatusCode, kind: .answered),
        Row(status: 500, code: .invalidDownloadStatusCode, kind: .answered),
        Row(status: 501, code: .invalidDownloadStatusCode, kind: .answered),
        Row(status: 502, code: .invalidDownloadStatusCode, kind: .failed),
        Row(status: 503, code: .invalidDownloadStatusCode, kind: .failed),
        Row(status: 504, code: .invalidDownloadStatusCode, kind: .failed),
        Row(status: 505, code: .invalidDownloadStatusCode, kind: .answered),
        Row(status: 429, code: .invalidDownloadStatusCode, kind: .answered),
        Row(status: 304, code: .cacheNotModified, kind: .answered),
        Row(status: 200, code: .badImageData, kind: .answered),
        Row(status: 302, code: .badRedirect, kind: .answered), Row(status: 200, code: .limitExceeded, kind: .answered),
        Row(status: 200, code: .networkConnectionLost, kind: .failed), Row(status: 200, code: .timedOut, kind: .failed),
        // A part of the body arrived.
        Row(status: 200, hasBody: true, kind: .answered), Row(status: 503, hasBody: true, kind: .failed),
        Row(status: 200, hasBody: true, code: .networkConnectionLost, kind: .answered),
        Row(status: 200, hasBody: true, code: .timedOut, kind: .silent),
        Row(status: 200, hasBody: true, code: .limitExceeded, kind: .answered),
    ])
    func `The outcome decides whether the host works`(row: Row) throws {
        let cause = row.curl.map { TransportFailure(code: $0, message: "") }
        let outcome = HostReport.Outcome(
            response: row.status.map { HTTPResponse(url: testURL("/a"), statusCode: $0) },
            hasBody: row.hasBody,
            error: row.code.map { WebImageError($0, "", underlyingError: cause) }
        )
        let report = HostReport(testURL("/a"), outcome, wallTime: 0)
        #expect(report.kind == row.kind && report.retryAfter == nil && report.url == testURL("/a"))
    }

    private static let wishes: [(Int, String?, Double?)] = [
        (429, "7", 7.0), (503, " 120 ", 120), (503, "Sun, 06 Nov 1994 08:49:47 GMT", 10),
        (429, "Sunday, 06-Nov-94 08:49:57 GMT", 20), (429, "Sun Nov  6 08:50:37 1994", 60),
        (503, "Sun, 06 Nov 1994 08:40:00 GMT", 0), (503, "soon", nil), (503, "-1", nil), (503, nil, nil),
        (502, "7", nil),
        (504, "7", nil), (200, "7", nil), (404, "7", nil), (301, "7", nil), (413, "7", nil),
    ]

    @Test(arguments: wishes)
    func `Statuses 429 and 503 with Retry-After delay a host, in seconds or with a date`(
        status: Int,
        value: String?,
        seconds: Double?
    ) {
        var headers = HTTPHeaders()
        headers["Retry-After"] = value
        let outcome = HostReport.Outcome(
            response: HTTPResponse(url: testURL("/"), statusCode: status, headers: headers)
        )
        #expect(HostReport(testURL("/"), outcome, wallTime: 784_111_777).retryAfter == seconds)
    }
}
