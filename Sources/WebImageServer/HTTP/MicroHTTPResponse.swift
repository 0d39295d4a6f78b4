import CMicrohttpd
import WebImage

/// A response of libmicrohttpd, which any number of connections can send at the same time.
final class MicroHTTPResponse: @unchecked Sendable {
    // Sendable because the response is not changed after the initializer, and libmicrohttpd counts its uses under a lock.

    let pointer: OpaquePointer

    /// Nil without memory or descriptors.
    init?(_ answer: HTTPAnswer, closes: Bool) {
        guard let response = Self.response(answer.body, answer.sentRange) else { return nil }
        pointer = response
        for field in answer.headers.fields { MHD_add_response_header(response, field.name, field.value) }
        if closes { MHD_add_response_header(response, "Connection", "close") }
    }

    deinit { MHD_destroy_response(pointer) }

    /// Returns the response to an answer: a new one, or that of the last time.
    static func made(of answer: HTTPAnswer, closes: Bool) -> MicroHTTPResponse? {
        guard let memo = answer.memo, !closes else { return MicroHTTPResponse(answer, closes: closes) }
        if let known = memo.content.withLock({ $0 }) as? MicroHTTPResponse { return known }
        let response = MicroHTTPResponse(answer, closes: false)
        memo.content.withLock { $0 = response }
        return response
    }

    private static func response(_ body: ServedBody?, _ range: Range<Int>) -> OpaquePointer? {
        switch body {
        case nil: return webimage_http_response(nil, 0, nil, nil)
        case .file(let entry):
            return webimage_http_file_response(entry.descriptor, UInt64(range.lowerBound), UInt64(range.count))
        case .bytes(let bytes):
            let owner = Unmanaged.passRetained(bytes).toOpaque()
            let response = webimage_http_response(
                bytes.base + range.lowerBound,
                range.count,
                { if let owner = $0 { Unmanaged<ServedBytes>.fromOpaque(owner).release() } },
                owner
            )
            if response == nil { Unmanaged.passUnretained(bytes).release() }
            return response
        }
    }
}

extension HTTPAnswer {
    /// The part of the body that is sent.
    var sentRange: Range<Int> { range ?? 0..<(body?.count ?? 0) }
}
