import FoundationEssentials
import WebImageCache

extension S3Store {
    /// The largest list: a thousand objects with their names and the service's additions.
    private static let mostListBytes = 4 << 20

    func report() async throws(WebImageError) -> RemoteStoreReport {
        var report = RemoteStoreReport()
        let start = ContinuousClock.now
        var operation = reading(Self.countsName, byteLimit: S3Counts.mostBytes)
        operation.patience = Self.writePatience
        switch await answer(operation) {
        case .success(let answer): report.statistics = S3Counts(document: answer.body)?.statistics ?? report.statistics
        case .failure(.refused(.absent)), .failure(.refused(.empty)), .failure(.tooLarge): break
        case .failure(let failure): throw failure.error
        }
        report.replyTime = (ContinuousClock.now - start) / .seconds(1)
        // The user may have no right to it.
        if case .success(let answer) = await answer(listing), let list = S3List(document: answer.body) {
            report.valueCount = list.estimate?.count
            report.valueByteCount = list.estimate?.byteCount
            report.isEstimate = list.isTruncated
        }
        return report
    }

    /// The first thousand entries.
    private var listing: S3Client.Operation {
        S3Client.Operation(
            method: "GET",
            query: ["list-type": "2", "prefix": client.configuration.prefix + "wi1/"],
            patience: Self.writePatience,
            byteLimit: Self.mostListBytes
        )
    }

    private func answer(_ operation: S3Client.Operation) async -> Result<S3Exchange.Answer, S3Client.Failure> {
        await withCheckedContinuation { continuation in
            client.perform(operation) { continuation.resume(returning: $0) }
        }
    }
}

/// A list of objects (`ListObjectsV2`), as far as it is needed to count entries.
struct S3List: Sendable, Hashable {
    private static let digitCount = 32

    private(set) var isTruncated = false
    private(set) var count = 0
    private(set) var byteCount = 0
    /// The hash in the last name, as a fraction of all hashes; nil if names are not in their order.
    private var lastPlace: Double? = 0

    /// Returns nil for another document. Elements are found by their names, wherever they are; other objects than entries are skipped.
    init?(document: Data) {
        var isList = false
        var (name, size): (ArraySlice<UInt8>?, Int?)
        let bytes = Array(document)
        var rest = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { break }
            let tag = rest[..<end]
            rest = rest[(end + 1)...]
            // Names of elements that are looked for are short; a text ends before the next one.
            switch String(decoding: tag.prefix { $0 != UInt8(ascii: " ") }.prefix(32), as: UTF8.self) {
            case "ListBucketResult": isList = true
            case "Contents": (name, size) = (nil, nil)
            case "Key": name = Self.text(rest)
            case "Size": size = Self.number(Self.text(rest))
            case "IsTruncated": isTruncated = Self.text(rest).elementsEqual("true".utf8)
            case "/Contents":
                if let name, let size { add(name, size) }
                (name, size) = (nil, nil)
            default: break
            }
        }
        guard isList else { return nil }
    }

    private static func text(_ rest: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        rest.prefix { $0 != UInt8(ascii: "<") }
    }

    private static func number(_ text: ArraySlice<UInt8>) -> Int? {
        guard (1...13).contains(text.count), text.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return text.reduce(0) { 10 * $0 + Int($1) - 48 }
    }

    private mutating func add(_ name: ArraySlice<UInt8>, _ size: Int) {
        let digits = name.suffix(Self.digitCount)
        let isHexadecimal = digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        guard digits.count == Self.digitCount, isHexadecimal,
            name.dropLast(Self.digitCount).suffix(4).elementsEqual("wi1/".utf8)
        else { return }
        count += 1
        byteCount += size
        let place = digits.prefix(13).reduce(0.0) { 16 * $0 + Double($1 < 58 ? $1 - 48 : $1 - 87) } / 0x1p52
        lastPlace = lastPlace.flatMap { $0 <= place ? place : nil }
    }

    /// The number of all entries and their bytes. Names are hashes in their order, so the last one of a part of the list says how large
    /// that part is. Nil if it says nothing.
    var estimate: (count: Int, byteCount: Int)? {
        guard isTruncated else { return (count, byteCount) }
        guard let lastPlace, lastPlace > 0 else { return nil }
        func whole(_ number: Int) -> Int { Int(min(Double(number) / lastPlace, 1e18).rounded()) }
        return (whole(count), whole(byteCount))
    }
}

extension S3Client.Failure {
    /// The failure as an error of the library.
    fileprivate var error: WebImageError {
        switch self {
        case .unavailable:
            WebImageError(.hostUnavailable, "request not sent: the store has failed, or no credentials were found")
        case .late: WebImageError(.hostUnavailable, "the store did not answer in time")
        case .connection: WebImageError(.hostUnavailable, "the connection to the store failed")
        case .tooLarge: WebImageError(.hostUnavailable, "the store answered with too many bytes")
        case .refused(let refusal): WebImageError(.hostUnavailable, "the store answered with an error: \(refusal)")
        }
    }
}
