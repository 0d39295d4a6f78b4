import FoundationEssentials
import ModelTestSupport
import Testing
import WebImageLoading

@Suite struct LoadExplanationTests {
    typealias Kind = WebImageLoadEvent.Kind

    /// A history and its expected paragraph.
    struct Row: CustomTestStringConvertible, Sendable {
        var name: String
        var url: String? = "https://example.com/photo.jpg"
        /// Milliseconds and the events at that time.
        var events: [(Double, Kind)]
        var text: String
        var testDescription: String { name }
    }

    private static let key = "https://example.com/photo.jpg"
    private static let small = "https://example.com/photo-Thumbnail.jpg"
    private static let start: (Double, Kind) = (0, .started(cacheKey: key, options: []))
    private static let startSmall: (Double, Kind) = (0, .started(cacheKey: small, options: []))
    private static let nowhere: [(Double, Kind)] = [
        start, (0, .memoryMissed(.absent)), (0, .queued(.disk)), (1, .diskMissed(key: key, .absent)),
        (1, .queued(.download)), (1, .downloadStarted), (1, .queued(.download)),
    ]

    private static func response(_ status: Int = 200) -> HTTPResponse {
        HTTPResponse(url: URL(string: key) ?? URL(filePath: "/"), statusCode: status)
    }

    private static func metrics(_ change: (inout DownloadMetrics) -> Void = { _ in }) -> DownloadMetrics {
        var metrics = DownloadMetrics()
        metrics.httpVersion = "2"
        change(&metrics)
        return metrics
    }

    static let rows: [Row] = lookups + downloads + failures + refreshes + others

    static let lookups = [
        Row(
            name: "memory",
            events: [start, (0.02, .memoryHit(key: key)), (0.03, .delivered(.memory))],
            text: "photo.jpg: In memory. Delivered at once."
        ),
        Row(
            name: "disk",
            events: [
                start, (0, .memoryMissed(.absent)), (0, .queued(.disk)), (1, .diskHit(key: key, byteCount: 245_300)),
                (1, .queued(.decode)),
                (10, .decoded(width: 4000, height: 2667, fromByteCount: 245_300, nanoseconds: 9_000_000)),
                (10, .stored(key: key, .memory)), (10.4, .delivered(.disk)),
            ],
            text: "photo.jpg: Not in memory, but on disk (245 KB). Decoded to 4000×2667 in 9 ms. Stored in memory. "
                + "Delivered after 10 ms."
        ),
        Row(
            name: "thumbnail from the stored original",
            events: [
                startSmall, (0, .memoryMissed(.absent)), (1, .diskMissed(key: small, .absent)),
                (2, .diskHit(key: key, byteCount: 999)), (2, .queued(.decode)),
                (8, .decoded(width: 300, height: 200, fromByteCount: 999, nanoseconds: 2_500_000)),
                (8, .stored(key: small, .all)), (8, .delivered(.disk)),
            ],
            text:
                "photo.jpg: Not in memory, not on disk, but found on disk as the original (999 B). Decoded to 300×200 in 2.5 ms, "
                + "after 3.5 ms in the queue. Stored on disk and in memory. Delivered after 8 ms."
        ),
        Row(
            name: "thumbnail that is nowhere",
            events: [
                startSmall, (0, .memoryMissed(.absent)), (1, .diskMissed(key: small, .absent)),
                (2, .diskMissed(key: key, .absent)), (2, .downloadStarted), (3, .downloaded(byteCount: 20, nil)),
                (4, .decoded(width: 3, height: 2, fromByteCount: 20, nanoseconds: 0)), (4, .stored(key: key, .disk)),
                (4, .stored(key: small, .all)), (5, .delivered(.none)),
            ],
            text:
                "photo.jpg: Not in memory, not on disk, nor is the original, so it was downloaded from example.com: "
                + "20 B in 1 ms. Decoded to 3×2. Stored on disk and in memory, and the original on disk. Delivered after 5 ms."
        ),
        Row(
            name: "other byte limit",
            events: [
                start, (0, .memoryMissed(.otherByteLimit)), (1, .diskHit(key: key, byteCount: 10)),
                (2, .delivered(.disk)),
            ],
            text:
                "photo.jpg: In memory only with another byte limit; it was on disk (10 B). Delivered after 2 ms."
        ),
        Row(
            name: "bytes on disk that are not an image",
            events: [
                start, (0, .memoryMissed(.absent)), (1, .diskHit(key: key, byteCount: 10)),
                (2, .diskMissed(key: key, .damaged)), (2, .downloadStarted), (3, .downloaded(byteCount: 10, nil)),
                (4, .delivered(.none)),
            ],
            text:
                "photo.jpg: Not in memory, the entry on disk was not an image, so it was downloaded from example.com: 10 B in "
                + "1 ms. Delivered after 4 ms."
        ),
        Row(
            name: "caches not asked",
            events: [
                start, (0, .memoryMissed(.notAsked)), (0, .diskMissed(key: key, .notAsked)), (0, .downloadStarted),
                (1, .downloaded(byteCount: 5, nil)), (2, .delivered(.none)),
            ],
            text:
                "photo.jpg: The caches were not queried, so it was downloaded from example.com: 5 B in 1 ms. Delivered after "
                + "2 ms."
        ),
        Row(
            name: "only memory not queried",
            events: [
                start, (0, .memoryMissed(.notAsked)), (1, .diskHit(key: key, byteCount: 12)), (2, .delivered(.disk)),
            ],
            text: "photo.jpg: Memory was not queried; it was on disk (12 B). Delivered after 2 ms."
        ),
        Row(
            name: "no key",
            events: [
                (0, .started(cacheKey: "", options: [])), (0, .memoryMissed(.noKey)), (0, .diskMissed(key: "", .noKey)),
                (0, .downloadStarted), (1, .downloaded(byteCount: 5, nil)), (2, .delivered(.none)),
            ],
            text: "photo.jpg: It has no cache key and bypasses the caches, so it was downloaded from "
                + "example.com: 5 B in 1 ms. Delivered after 2 ms."
        ),
        Row(
            name: "cache only",
            events: nowhere.prefix(4) + [(1, .failed(.notCached()))],
            text:
                "photo.jpg: Not in memory, not on disk. Failed after 1 ms: the image is not in the cache, and only the "
                + "cache was asked (code 1105)."
        ),
    ]

    static let downloads = [
        Row(
            name: "download with everything",
            events: nowhere + [
                (4, .requestSent(attempt: 1)), (45, .firstByte(response())),
                (50, .progress(LoadProgress(receivedByteCount: 1, expectedByteCount: 2))),
                (
                    184,
                    .downloaded(byteCount: 245_000, metrics { ($0.isReusedConnection, $0.redirectCount) = (true, 1) })
                ),
                (184, .queued(.decode)),
                (193, .decoded(width: 300, height: 200, fromByteCount: 9, nanoseconds: 9_000_000)),
                (193, .stored(key: key, .disk)), (193, .stored(key: key, .memory)), (240, .delivered(.none)),
            ],
            text:
                "photo.jpg: Not in memory, not on disk, so it was downloaded from example.com: waited 3 ms for a slot, first "
                + "byte after 41 ms, 245 KB in 180 ms (1.4 MB/s, HTTP 2, reused connection, 1 redirect). Decoded to 300×200 in "
                + "9 ms. Stored on disk and in memory. Delivered after 240 ms."
        ),
        Row(
            name: "two attempts",
            events: nowhere + [
                (1, .requestSent(attempt: 1)), (5, .firstByte(response(503))),
                (5, .retried(WebImageError(.invalidDownloadStatusCode, "status 503"), after: 1.5)),
                (1505, .requestSent(attempt: 2)), (1600, .firstByte(response())),
                (1601, .downloaded(byteCount: 100, metrics { $0.attemptCount = 2 })), (1602, .delivered(.none)),
            ],
            text:
                "photo.jpg: Not in memory, not on disk, so it was downloaded from example.com: 100 B in 1.6 s (HTTP 2, "
                + "2 attempts). An attempt failed (status 503) and was retried after 1.5 s. Delivered after 1.6 s."
        ),
        Row(
            name: "port, large and slow",
            url: "http://localhost:8080/a/big.png?token=secret",
            events: [
                start, (0, .downloadStarted), (0, .requestSent(attempt: 1)),
                (125_000, .downloaded(byteCount: 2_500_000_000, nil)), (125_000, .delivered(.none)),
            ],
            text:
                "big.png: It was downloaded from localhost:8080: 2.5 GB in 2 min 5 s (20 MB/s). Delivered after 2 min 5 s."
        ),
        Row(
            name: "file",
            url: "file:///home/me/My%20photo.jpg",
            events: [
                start, (0, .memoryMissed(.absent)), (0, .diskMissed(key: key, .notAsked)), (0, .downloadStarted),
                (0.5, .downloaded(byteCount: 4096, nil)), (1, .delivered(.none)),
            ],
            text:
                "My photo.jpg: Not in memory, the disk was not queried, so it was read from the file: 4.1 KB in 0.5 ms. "
                + "Delivered after 1 ms."
        ),
        Row(
            name: "data URL",
            url: "data:image/png;base64,AAAA",
            events: [start, (0, .downloadStarted), (0.01, .downloaded(byteCount: 3, nil)), (1, .delivered(.none))],
            text: "data URL: It was taken from the URL itself: 3 B in less than 0.1 ms. Delivered after 1 ms."
        ),
        Row(
            name: "a loader of one's own",
            url: "avatar://me",
            events: [start, (0, .downloadStarted), (2, .downloaded(byteCount: 3, nil)), (3, .delivered(.none))],
            text: "me: It came from the loader: 3 B in 2 ms. Delivered after 3 ms."
        ),
    ]

    static let failures = [
        Row(
            name: "waiting for room and for a place",
            events: [
                start, (0, .queued(.download)), (20, .downloadStarted), (20, .queued(.download)),
                (25, .requestSent(attempt: 1)), (30, .downloaded(byteCount: 5, nil)), (30, .delivered(.none)),
            ],
            text:
                "photo.jpg: It was downloaded from example.com: waited 25 ms for a slot, 5 B in 5 ms. Delivered after 30 ms."
        ),
        Row(
            name: "sent late without having waited",
            events: [
                start, (0, .queued(.download)), (8, .downloadStarted), (13, .requestSent(attempt: 1)),
                (30, .downloaded(byteCount: 5, nil)), (30, .delivered(.none)),
            ],
            text: "photo.jpg: It was downloaded from example.com: 5 B in 17 ms. Delivered after 30 ms."
        ),
        Row(
            name: "status",
            events: nowhere + [
                (1, .requestSent(attempt: 1)), (13, .firstByte(response(404))),
                (13, .failed(WebImageError(.invalidDownloadStatusCode, "the server answered with status 404"))),
            ],
            text:
                "photo.jpg: Not in memory, not on disk, so example.com was asked: status 404 after 12 ms. Failed after 13 ms: "
                + "the server answered with status 404 (code 2001)."
        ),
        Row(
            name: "no host",
            events: nowhere + [
                (1, .requestSent(attempt: 1)), (4, .failed(WebImageError(.cannotFindHost, "the host is not known"))),
            ],
            text:
                "photo.jpg: Not in memory, not on disk, so example.com was asked. Failed after 4 ms: the host is not known "
                + "(code 2101)."
        ),
        Row(
            name: "blocked",
            events: [
                (0, .started(cacheKey: "", options: [])), (0, .failed(WebImageError(.blacklisted, "it failed before"))),
            ],
            text: "photo.jpg: Failed at once: it failed before (code 1003)."
        ),
        Row(
            name: "no URL",
            url: nil,
            events: [
                (0, .started(cacheKey: "", options: [])),
                (0, .failed(WebImageError(.invalidURL, "the URL is missing"))),
            ],
            text: "No URL: Failed at once: the URL is missing (code 1000)."
        ),
        Row(
            name: "no picture",
            events: nowhere + [
                (3, .downloaded(byteCount: 20, nil)),
                (
                    4,
                    .failed(
                        WebImageError(
                            .badImageData,
                            "not\na picture",
                            underlyingError: WebImageError(.outOfMemory, "why")
                        )
                    )
                ),
            ],
            text:
                "photo.jpg: Not in memory, not on disk, so it was downloaded from example.com: 20 B in 2 ms. Failed after "
                + "4 ms: not?a picture (why) (code 1001)."
        ),
        Row(
            name: "cancelled while bytes came",
            events: nowhere + [
                (1, .requestSent(attempt: 1)), (9, .firstByte(response())),
                (20, .progress(LoadProgress(receivedByteCount: 100_000, expectedByteCount: 245_000))), (21, .cancelled),
            ],
            text:
                "photo.jpg: Not in memory, not on disk, so example.com was asked: first byte after 8 ms, 100 KB of 245 KB "
                + "received. Cancelled after 21 ms."
        ),
        Row(
            name: "cancelled at once",
            events: [start, (0, .memoryMissed(.absent)), (0.2, .cancelled)],
            text: "photo.jpg: Not in memory. Cancelled after 0.2 ms."
        ),
        Row(
            name: "under way",
            events: nowhere,
            text: "photo.jpg: Not in memory, not on disk, so example.com was asked. Still running after 1 ms."
        ),
    ]

    static let refreshes = [
        Row(
            name: "nothing newer",
            events: [
                start, (0, .memoryHit(key: key)), (0.1, .deliveredInterim(.memory)),
                (1, .diskHit(key: key, byteCount: 9)),
                (1, .downloadStarted), (1, .requestSent(attempt: 1)), (6, .firstByte(response(304))), (6, .notModified),
                (6, .delivered(.memory)),
            ],
            text:
                "photo.jpg: In memory. Delivered from memory after 0.1 ms, to be refreshed. Asked example.com for something "
                + "newer: status 304 after 5 ms, there is nothing newer. Done after 6 ms."
        ),
        Row(
            name: "something newer",
            events: [
                start, (0, .memoryMissed(.absent)), (1, .diskHit(key: key, byteCount: 9)),
                (2, .deliveredInterim(.disk)),
                (2, .diskHit(key: key, byteCount: 9)), (2, .downloadStarted), (2, .requestSent(attempt: 1)),
                (7, .downloaded(byteCount: 20_000, nil)),
                (8, .decoded(width: 4, height: 2, fromByteCount: 20, nanoseconds: 1_000_000)),
                (8, .stored(key: key, .all)),
                (9, .delivered(.none)),
            ],
            text: "photo.jpg: Not in memory, but on disk (9 B). Delivered from disk after 2 ms, to be refreshed. Asked "
                + "example.com for something newer: 20 KB in 5 ms (4 MB/s). Decoded to 4×2 in 1 ms. Stored on disk and in "
                + "memory. Delivered after 9 ms."
        ),
        Row(
            name: "refresh that fails",
            events: [
                start, (0, .memoryHit(key: key)), (0, .deliveredInterim(.memory)), (1, .downloadStarted),
                (400, .failed(WebImageError(.timedOut, "it took too long"))),
            ],
            text:
                "photo.jpg: In memory. Delivered from memory at once, to be refreshed. Asked example.com for something "
                + "newer. Failed after 400 ms: it took too long (code 2100)."
        ),
    ]

    static let others = [
        Row(
            name: "joined",
            events: [
                start, (0, .memoryMissed(.absent)), (0, .joined(.image)), (5, .downloaded(byteCount: 9, nil)),
                (6, .delivered(.none)),
            ],
            text:
                "photo.jpg: Joined another load of the same image. Not in memory. Delivered after 6 ms."
        ),
        Row(
            name: "joined download",
            events: [
                start, (0, .memoryMissed(.absent)), (1, .joined(.data)), (1, .diskMissed(key: key, .absent)),
                (1, .downloadStarted), (5, .downloaded(byteCount: 9, nil)), (6, .delivered(.none)),
            ],
            text:
                "photo.jpg: Joined another load of the same bytes. Not in memory, not on disk, so it was "
                + "downloaded from example.com: 9 B in 4 ms. Delivered after 6 ms."
        ),
        Row(
            name: "chain on what is in memory",
            events: [
                startSmall, (0, .memoryMissed(.absent)), (1, .diskMissed(key: small, .absent)),
                (1, .memoryHit(key: key)),
                (3, .transformed(key: "blur", nanoseconds: 1_500_000)),
                (4, .transformed(key: "tint", nanoseconds: 500_000)),
                (4, .stored(key: small, .all)), (4, .delivered(.memory)),
            ],
            text:
                "photo.jpg: Not in memory, not on disk, but found in memory as its source image. Transformed by blur, tint "
                + "in 2 ms. Stored on disk and in memory. Delivered after 4 ms."
        ),
        Row(
            name: "prefetch to disk",
            events: [
                start, (1, .diskMissed(key: key, .absent)), (1, .downloadStarted), (4, .downloaded(byteCount: 9, nil)),
                (4, .stored(key: key, .disk)), (5, .delivered(.none)),
            ],
            text:
                "photo.jpg: Not on disk, so it was downloaded from example.com: 9 B in 3 ms. Stored on disk. Delivered "
                + "after 5 ms."
        ),
    ]

    @Test(arguments: rows) func `A history is explained in one paragraph`(row: Row) {
        let url = row.url.flatMap { URL(string: $0) }
        let events = row.events.map { milliseconds, kind in
            WebImageLoadEvent(loadID: 1, url: url, time: UInt64((milliseconds * 1e6).rounded()), kind: kind)
        }
        #expect(LoadExplanation.text(events) == row.text)
    }

    @Test func `There are enough histories, each with its own name`() {
        #expect(Self.rows.count >= 25)
        #expect(Set(Self.rows.map(\.name)).count == Self.rows.count)
    }

    @Test func `Any order of any events makes one line`() {
        var kinds = Self.rows.flatMap { $0.events.map(\.1) }
        for round in 0..<200 {
            kinds.shuffle()
            let events = kinds.prefix(round % 40).enumerated().map { index, kind in
                WebImageLoadEvent(loadID: 1, url: nil, time: UInt64.random(in: 0...UInt64(index) << 40), kind: kind)
            }
            let text = LoadExplanation.text(events)
            #expect(!text.contains(where: \.isNewline) && text.hasSuffix("."))
        }
    }

    @Test func `Passwords and queries are not shown`() {
        let url = URL(string: "https://me:secret@example.com/photo.jpg?key=secret")
        let events = Self.rows[10].events.map { WebImageLoadEvent(loadID: 1, url: url, time: 0, kind: $0.1) }
        #expect(!LoadExplanation.text(events).contains("secret"))
    }

    @Test func `A recording describes its loads in the order they began, each on a line`() {
        let recording = LoadRecording()
        #expect(recording.explanation.isEmpty && recording.events.isEmpty)
        let kinds: [(UInt64, Kind)] = [
            (7, .started(cacheKey: "", options: [])), (5, .started(cacheKey: "", options: [])), (5, .cancelled),
            (7, .failed(.cancelled())),
        ]
        for (id, kind) in kinds {
            recording.loadDid(WebImageLoadEvent(loadID: id, url: testURL("/\(id)"), time: 1_000_000, kind: kind))
        }
        #expect(
            recording.explanation.split(separator: "\n") == [
                "7: Failed after 1 ms: the load was cancelled (code 2002).", "5: Cancelled after 1 ms.",
            ]
        )
    }
}
