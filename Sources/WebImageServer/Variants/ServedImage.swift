import FoundationEssentials
import WebImage

/// An encoded image that can be sent: its bytes, and what fields its answers have.
final class ServedImage: Sendable {
    let bytes: ServedBytes
    /// The strong entity tag: the XXH3 of the bytes, in quotes.
    let entityTag: String
    let format: ImageFormat
    /// The time until which it may be used without asking the origin, in seconds since 1970.
    let freshUntil: Double
    /// `Last-Modified` of the original; nil if there is none.
    let lastModified: String?
    /// False if it must not be stored by anybody.
    let isStorable: Bool
    /// False if only the client's own cache may store it.
    let isPublic: Bool

    /// - Parameters:
    ///   - now: The seconds since 1970.
    ///   - unknownLifetime: The seconds of freshness if the origin says nothing about it.
    init(_ image: EncodedImage, now: Double, unknownLifetime: Double) {
        bytes = ServedBytes(image.data)
        let digits = String(image.hash, radix: 16)
        entityTag = "\"" + String(repeating: "0", count: 16 - digits.count) + digits + "\""
        format = image.format
        isStorable = image.isStorable
        let record = image.record
        lastModified = record?.headers.firstValue(of: "Last-Modified")
        isPublic = record?.facts.control.says(.isPrivate) != true
        guard let freshness = record?.freshness(now: now) else {
            freshUntil = now + unknownLifetime
            return
        }
        let lifetime = freshness.lifetime.map { $0 - freshness.age }
        freshUntil = now + (freshness.isFresh || freshness.lifetime == nil ? max(lifetime ?? unknownLifetime, 0) : 0)
    }

    /// True for a sequence of AVIF images.
    var isImageSequence: Bool {
        bytes.count >= 12 && UnsafeRawBufferPointer(start: bytes.base + 4, count: 8).elementsEqual("ftypavis".utf8)
    }

    /// The bytes that the object takes in memory.
    var cost: Int { bytes.count + 512 }
}

extension ServedImage {
    /// Returns the answer to a request: 200, 206, 304, 412 or 416.
    ///
    /// - Parameters:
    ///   - fields: Fields that all answers to the request have.
    ///   - now: The seconds since 1970.
    ///   - maximumAge: The longest time for which clients may keep it, in seconds.
    func answer(to request: HTTPRequest, fields: HTTPHeaders, now: Double, maximumAge: Double) -> HTTPAnswer {
        var answer = HTTPAnswer(status: 200, headers: fields, body: bytes)
        answer.headers.add(name: "ETag", value: entityTag)
        answer.headers.add(name: "Cache-Control", value: cacheControl(now: now, maximumAge: maximumAge))
        if let lastModified { answer.headers.add(name: "Last-Modified", value: lastModified) }
        if isUnchanged(for: request, now: now) {
            answer.status = 304
            answer.body = nil
            return answer
        }
        answer.headers.add(name: "Content-Type", value: format.mimeType)
        answer.headers.add(name: "Accept-Ranges", value: "bytes")
        // HEAD has the fields of a GET without a range.
        guard request.method == .get, rangeApplies(request, now: now) else { return answer }
        switch ByteRange(request.headers.firstValue(of: "Range"), of: bytes.count) {
        case .whole: break
        case .part(let range):
            answer.status = 206
            answer.range = range
            let text = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)"
            answer.headers.add(name: "Content-Range", value: text)
        case .unsatisfiable:
            answer.status = 416
            answer.body = nil
            answer.headers["Content-Type"] = nil
            answer.headers.add(name: "Content-Range", value: "bytes */\(bytes.count)")
        }
        return answer
    }

    private func cacheControl(now: Double, maximumAge: Double) -> String {
        guard isStorable else { return "no-store" }
        let seconds = Int(min(freshUntil - now, maximumAge))
        guard seconds > 0 else { return isPublic ? "no-cache" : "private, no-cache" }
        return "\(isPublic ? "public" : "private"), max-age=\(seconds)"
    }

    /// Evaluates `If-None-Match`, or without it `If-Modified-Since` (RFC 9110, 13.2.2).
    private func isUnchanged(for request: HTTPRequest, now: Double) -> Bool {
        if let tags = request.headers["If-None-Match"] {
            let own = entityTag
            return tags.utf8.split(separator: UInt8(ascii: ",")).contains { member in
                let tag = member.trimmedWord
                return tag == "*" || tag == own || tag == "W/" + own
            }
        }
        guard let date = request.headers.firstValue(of: "If-Modified-Since"), let lastModified,
            let known = HTTPDate.parse(date, now: now), let own = HTTPDate.parse(lastModified, now: now)
        else { return false }
        return own <= known
    }

    /// Evaluates `If-Range`: true if a range may be served. Dates are compared exactly; only the tag is a strong validator here.
    private func rangeApplies(_ request: HTTPRequest, now: Double) -> Bool {
        guard let condition = request.headers.firstValue(of: "If-Range") else { return true }
        return condition == entityTag
    }
}
