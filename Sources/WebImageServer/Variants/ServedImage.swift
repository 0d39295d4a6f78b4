import CMicrohttpd
import FoundationEssentials
import WebImage

/// An encoded image that can be sent: its bytes, and what fields its answers have.
final class ServedImage: Sendable {
    let body: ServedBody
    /// The strong entity tag: the XXH3 of the bytes, in quotes.
    let entityTag: String
    let format: ImageFormat
    /// The time until which it may be used without asking the origin, in seconds since 1970.
    let freshUntil: Double
    /// `Last-Modified` of the original; nil if there is none.
    let lastModified: String?
    /// True for a sequence of AVIF images.
    let isImageSequence: Bool
    /// False if it must not be stored by anybody.
    let isStorable: Bool
    /// False if only the client's own cache may store it.
    let isPublic: Bool
    /// The last answer without conditions and ranges.
    private let latest = Lock<WholeAnswer?>(nil)
    /// The time at which all of the file was in memory.
    private let residentTime = Lock(-Double.infinity)

    private struct WholeAnswer: Sendable {
        var fields: HTTPHeaders
        var age: Int
        var answer: HTTPAnswer
    }

    /// - Parameters:
    ///   - now: The seconds since 1970.
    ///   - unknownLifetime: The seconds of freshness if the origin says nothing about it.
    init(_ image: EncodedImage, now: Double, unknownLifetime: Double) {
        body = .bytes(ServedBytes(image.data))
        entityTag = Self.entityTag(image.hash)
        format = image.format
        isImageSequence = image.data.dropFirst(4).prefix(8).elementsEqual("ftypavis".utf8)
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

    /// Creates the same image, sent from its file; nil if the file has other bytes.
    init?(_ image: ServedImage, from entry: OpenEntry) {
        guard image.entityTag == Self.entityTag(entry.hash) else { return nil }
        body = .file(entry)
        (entityTag, format, freshUntil) = (image.entityTag, image.format, image.freshUntil)
        (lastModified, isImageSequence) = (image.lastModified, image.isImageSequence)
        (isStorable, isPublic) = (image.isStorable, image.isPublic)
    }

    private static func entityTag(_ hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return "\"" + String(repeating: "0", count: 16 - digits.count) + digits + "\""
    }

    /// The bytes that the object takes in memory.
    var cost: Int { body.count + 2048 }

    /// Returns false if the image must be read again before it is sent: its file was changed, or reading it would wait for the disk.
    ///
    /// - Parameter now: The seconds since 1970.
    func isReady(now: Double) -> Bool {
        guard case .file(let entry) = body else { return true }
        guard entry.isUnchanged else { return false }
        // Pages that are sent again and again stay in memory.
        if residentTime.withLock({ abs(now - $0) < 1 }) { return true }
        guard webimage_http_is_resident(entry.descriptor, UInt64(entry.byteCount)) else { return false }
        residentTime.withLock { $0 = now }
        return true
    }
}

extension ServedImage {
    /// Returns the answer to a request: 200, 206, 304, 412 or 416.
    ///
    /// - Parameters:
    ///   - fields: Fields that all answers to the request have.
    ///   - now: The seconds since 1970.
    ///   - maximumAge: The longest time for which clients may keep it, in seconds.
    func answer(to request: HTTPRequest, fields: HTTPHeaders, now: Double, maximumAge: Double) -> HTTPAnswer {
        let age = Int(min(freshUntil - now, maximumAge))
        guard request.isConditional else { return whole(fields, age) }
        var answer = HTTPAnswer(status: 200, headers: fields, body: body)
        addValidators(to: &answer, age)
        if isUnchanged(for: request, now: now) {
            answer.status = 304
            answer.body = nil
            return answer
        }
        addContent(to: &answer)
        // HEAD has the fields of a GET without a range.
        guard request.method == .get, rangeApplies(request, now: now) else { return answer }
        switch ByteRange(request.headers.firstValue(of: "Range"), of: body.count) {
        case .whole: break
        case .part(let range):
            answer.status = 206
            answer.range = range
            let text = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"
            answer.headers.add(name: "Content-Range", value: text)
        case .unsatisfiable:
            answer.status = 416
            answer.body = nil
            answer.headers["Content-Type"] = nil
            answer.headers.add(name: "Content-Range", value: "bytes */\(body.count)")
        }
        return answer
    }

    /// Returns the answer with all bytes: the same object's as the last time, as long as its fields are the same.
    private func whole(_ fields: HTTPHeaders, _ age: Int) -> HTTPAnswer {
        if let latest = latest.withLock({ $0 }), latest.age == age, latest.fields == fields {
            return latest.answer
        }
        var answer = HTTPAnswer(status: 200, headers: fields, body: body, memo: HTTPAnswerMemo())
        addValidators(to: &answer, age)
        addContent(to: &answer)
        let former = latest.withLock { latest in
            defer { latest = WholeAnswer(fields: fields, age: age, answer: answer) }
            return latest
        }
        withExtendedLifetime(former) {}
        return answer
    }

    private func addValidators(to answer: inout HTTPAnswer, _ age: Int) {
        answer.headers.add(name: "ETag", value: entityTag)
        answer.headers.add(name: "Cache-Control", value: cacheControl(age))
        if let lastModified { answer.headers.add(name: "Last-Modified", value: lastModified) }
    }

    private func addContent(to answer: inout HTTPAnswer) {
        answer.headers.add(name: "Content-Type", value: format.mimeType)
        answer.headers.add(name: "Accept-Ranges", value: "bytes")
    }

    private func cacheControl(_ seconds: Int) -> String {
        guard isStorable else { return "no-store" }
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

extension HTTPRequest {
    /// True if there is a field that can change the status of the answer: `Range`, or `If-…`.
    var isConditional: Bool {
        headers.fields.contains { field in
            let name = field.name.utf8
            guard let first = name.first else { return false }
            switch first | 0x20 {
            case UInt8(ascii: "i"): return name.dropFirst(2).first == UInt8(ascii: "-")
            case UInt8(ascii: "r"): return HTTPHeaders.equal(field.name, "Range")
            default: return false
            }
        }
    }
}
