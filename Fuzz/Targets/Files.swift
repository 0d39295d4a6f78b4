import FoundationEssentials
import TestSupport
import WebImage

@testable import WebImageCache
@testable import WebImageHTTP
@testable import WebImageModel

/// Files of the disk cache and of interrupted downloads: another process, or a broken disk, may have written them.
extension FuzzTarget {
    static let files: [FuzzTarget] = [
        FuzzTarget(
            name: "entry",
            summary: "a cache file: footer, records, slots; read, written, read again",
            longestInput: 8 << 10,
            dictionary: "entry",
            seeds: entrySeeds,
            check: { (data) throws(FuzzFinding) in try EntryCheck.run(data) }
        ),
        FuzzTarget(
            name: "response-lines",
            summary: "the lines of a stored answer, and the record among them",
            dictionary: "http",
            seeds: { recordSeeds.map { Data($0.utf8) } },
            check: checkLines
        ),
        FuzzTarget(
            name: "partial-head",
            summary: "the head of a download that broke off",
            dictionary: "entry",
            seeds: partialHeadSeeds,
            check: checkPartialHead
        ),
        FuzzTarget(
            name: "file-name",
            summary: "names of cache files for keys, and keys taken apart",
            longestInput: 1024,
            dictionary: "url",
            seeds: { addressSeeds.map { Data($0.utf8) } },
            check: checkFileName
        ),
    ]

    @Sendable private static func entrySeeds() -> [Data] {
        var seeds: [Data] = []
        for (index, text) in ([nil] + recordSeeds.map { Optional($0) }).enumerated() {
            var trailer = EntryTrailer(key: "https://example.com/\(index).png", created: 1_700_000_000_000_000_000)
            trailer.response = text.map { Data($0.utf8) }
            if index == 1 { trailer.extendedData = Data("extended".utf8) }
            if index == 2 { trailer.records.append(EntryTrailer.Record(tag: 77, bytes: Data([1, 2, 3]))) }
            let body = Data("the picture's bytes".utf8)
            let hash = body.withUnsafeBytes { Hashing.xxh3($0) }
            guard let tail = trailer.encoded(bodyLength: body.count, bodyHash: hash) else { continue }
            seeds.append(body + tail)
        }
        return seeds
    }

    /// Lines as they are stored with images.
    private static let recordSeeds = [
        "etag: \"abc\"\nlast-modified: Sun, 06 Nov 1994 08:49:37 GMT\nx-received-hash: 0123456789abcdef\n",
        """
        x-record: 1
        x-http-status: 200
        x-http-request-time: 1700000000.0
        x-http-response-time: 1700000000.25
        x-http-redirect-lifetime: 60.0
        x-http-selecting: accept: image/avif,image/webp
        cache-control: max-age=60, stale-while-revalidate=30
        vary: accept
        etag: W/"1"

        """,
        "x-something: of a later version\netag: \"1\"\nx-record: 2\nx-what: ever\n",
    ]

    private static func checkLines(_ data: Data) throws(FuzzFinding) {
        var lines = ResponseLines(data)
        let bytes = lines.bytes
        try must(bytes.count <= data.count + 1, "lines grow by being read")
        try must(ResponseLines(bytes).bytes == bytes, "lines change by being written and read")
        let validators = lines.validators
        try must(ResponseLines(bytes).validators == validators, "validators change by being written and read")
        try checkRecord(validators?.record)
        lines.validators = validators
        try must(lines.validators == validators, "validators are others once they were set")
        try must(ResponseLines(lines.bytes).validators == validators, "validators that were set are not read")
        try must(lines.mayChange == (validators?.mayChange ?? lines.mayChange), "mutable metadata is given twice")
    }

    private static func checkRecord(_ record: HTTPCacheRecord?) throws(FuzzFinding) {
        guard let record else { return }
        let lines = record.encodedLines()
        let fieldCount = record.headers.fields.count + record.selectingHeaders.fields.count
        try must(lines.count <= 4 + fieldCount, "a line of a record is two")
        guard let other = HTTPCacheRecord(lines: lines) else { throw FuzzFinding("a record is not read again") }
        try must(other.encodedLines() == lines, "a record changes by being written and read")
    }

    @Sendable private static func partialHeadSeeds() -> [Data] {
        let key = PartialKey(urlHash: 7, digest: "0123456789abcdef0123456789abcdef")
        let heads = [
            PartialHead(key: key, validator: .entityTag("\"abc\""), total: 70_000, contentType: "image/jpeg"),
            PartialHead(key: key, validator: .lastModified("Sun, 06 Nov 1994 08:49:37 GMT")),
        ]
        return heads.compactMap { PartialDownload(head: $0, bytes: Data()).entry.extendedData }
    }

    private static func checkPartialHead(_ data: Data) throws(FuzzFinding) {
        let key = PartialKey(urlHash: 7, digest: "0123456789abcdef0123456789abcdef")
        let entry = CachedImageData(data: Data(repeating: 1, count: 8192), extendedData: data)
        guard let part = PartialDownload(entry, key: key) else { return }
        try must(part.head.key == key, "a part of another request is taken")
        try must(part.head.total.map { $0 >= 8192 } ?? true, "more is there than the whole has")
        try must(PartialDownload(part.entry, key: key)?.head == part.head, "a head changes by being written and read")
    }

    private static func checkFileName(_ data: Data) throws(FuzzFinding) {
        let key = data.text
        let name = CacheFileName(key: key)
        let bytes = name.string.utf8
        try must(bytes.count <= CacheFileName.maximumByteCount, "a name of \(bytes.count) bytes")
        try must(!bytes.contains { $0 == 0 || $0 == UInt8(ascii: "/") }, "a name leads out of the directory")
        try must(CacheFileName.isEntryName(bytes), "a name is not known again: \(name.string)")
        try must(!EntryWriter.isTemporaryName(bytes), "an entry has the name of a file that is being written")
        let next = key.utf8[KeyParts(key).path.endIndex...].first
        try must(
            next == nil || next == UInt8(ascii: "?") || next == UInt8(ascii: "#"),
            "a path ends before its key says so"
        )
        _ = CacheFileName.isEntryName(key.utf8)
    }
}

extension HTTPCacheRecord {
    /// The lines of a record, without their line feeds.
    func encodedLines() -> [String] {
        var bytes: [UInt8] = []
        appendLines(to: &bytes)
        return bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    }
}
