import FoundationEssentials
import WebImage

@testable import WebImageCache
@testable import WebImageLoading

/// Responses as a cache sees them: the kept fields, and the decisions at any time.
enum FreshnessCheck {
    private static let times = [0, 784_111_777, 784_111_900, 1.7e9, -1e9, 1e15]
    private static let policies: [CachePolicy] = [.immutable, .http, .revalidate, .ttl(60), .ttl(-1), .ttl(.nan)]

    static func run(_ data: Data) throws(FuzzFinding) {
        // Two responses, with an empty line between.
        let heads = split(data)
        guard let url = URL(string: "https://example.com/a.png"), let first = heads.first else { return }
        var response = HTTPResponse(url: url, statusCode: status(first), headers: FuzzTarget.fields(first))
        response.exchange = HTTPExchange(
            requestHeaders: ["Accept": "image/*"],
            requestTime: 784_111_776,
            responseTime: 784_111_777.5,
            redirects: heads.dropFirst(2).map { .init(statusCode: status($0), headers: FuzzTarget.fields($0)) }
        )
        let requests = [
            HTTPCacheRequest(), HTTPCacheRequest(headers: ["Cache-Control": "max-stale"]),
            HTTPCacheRequest(headers: ["cache-control": "only-if-cached"]),
            HTTPCacheRequest(headers: FuzzTarget.fields(heads.last ?? first)),
        ]
        for request in requests {
            let record = HTTPCacheMachine.record(of: response, request: request, now: 784_111_778)
            try check(record, request, url)
            for policy in policies {
                let isStored = HTTPCacheMachine.mayStore(response, request: request, policy: policy)
                let forbids = record.facts.control.says(.noStore) && policy == .http
                try must(!(isStored && forbids), "a no-store response is stored")
            }
            guard heads.count > 1 else { continue }
            let notModified = HTTPResponse(url: url, statusCode: 304, headers: FuzzTarget.fields(heads[1]))
            guard let newer = HTTPCacheMachine.updated(record, by: notModified, request: request, now: 784_111_800)
            else { continue }
            try must(newer.statusCode == record.statusCode, "a 304 changes the status")
            try check(newer, request, url)
        }
    }

    private static func check(_ record: HTTPCacheRecord, _ request: HTTPCacheRequest, _ url: URL) throws(FuzzFinding) {
        let lines = record.encodedLines()
        if (100...999).contains(record.statusCode) {
            guard let read = HTTPCacheRecord(lines: lines) else {
                throw FuzzFinding("a record is not read again: \(lines)")
            }
            try must(read.encodedLines() == lines, "a record changes by being written and read")
        }
        for now in times {
            let standing = record.cacheStatus(at: now)
            try must(standing.age >= 0 && !standing.remaining.isNaN, "an image's age is \(standing.age) s")
            try must(standing.lifetime.map { $0 >= 0 } ?? true, "a lifetime is below 0")
            let freshness = record.freshness(now: now)
            try must(!freshness.isFresh || standing.isFresh, "a stale response is reported as fresh")
            let age = HTTPCacheMachine.delivered(record, url: url, now: now).headers["Age"].flatMap { Int($0) }
            try must(age.map { $0 >= 0 } ?? false, "an age that is delivered is none")
            for policy in policies {
                let decision = HTTPCacheMachine.decide(
                    record,
                    isStored: true,
                    request: request,
                    policy: policy,
                    now: now
                )
                try check(decision, record, policy)
            }
        }
        let conditions = CacheValidators(record: record)?.conditions ?? HTTPHeaders()
        try must(conditions.problem == nil, "a condition cannot be sent")
    }

    private static func check(
        _ decision: HTTPCacheDecision,
        _ record: HTTPCacheRecord,
        _ policy: CachePolicy
    ) throws(FuzzFinding) {
        switch decision {
        case .hit(let answer), .serveStale(let answer), .revalidate(let answer, _):
            try must(answer.age >= 0, "an age is \(answer.age)")
        case .fetch, .unsatisfiable: break
        }
        guard policy == .http, record.facts.control.says(.noCache) else { return }
        switch decision {
        case .hit, .serveStale: throw FuzzFinding("a no-cache response is served without revalidation")
        default: break
        }
    }

    private static func status(_ head: Data) -> Int {
        let words = head.prefix { $0 != 0x0A }.text.split(separator: " ")
        return words.count > 1 ? Int(words[1]).map { min(max($0, 100), 999) } ?? 200 : 200
    }

    private static func split(_ data: Data) -> [Data] {
        var heads: [Data] = [Data()]
        for line in data.split(separator: 0x0A, omittingEmptySubsequences: false) {
            if line.isEmpty || line.elementsEqual([0x0D]) {
                if heads.count < 4 { heads.append(Data()) }
            } else {
                heads[heads.count - 1] += line + [0x0A]
            }
        }
        return heads.filter { !$0.isEmpty }
    }
}
