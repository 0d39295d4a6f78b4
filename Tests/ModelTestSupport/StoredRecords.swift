package import FoundationEssentials
package import WebImageModel

/// Validators with records, each of a number that is everywhere in it, so that a mixture of two is detected.
package enum StoredRecords {
    /// - Parameter padding: Bytes of a field that nobody reads.
    package static func record(_ number: Int, padding: Int = 0) -> HTTPCacheRecord {
        HTTPCacheRecord(
            statusCode: 200,
            headers: [
                "cache-control": "max-age=\(number)", "etag": "\"\(number)\"",
                "x-padding": String(repeating: "\(number % 10)", count: padding),
            ],
            requestTime: 1_800_000_000.25 + Double(number),
            responseTime: 1_800_000_000.5 + Double(number),
            selectingHeaders: ["accept": "image/\(number)"],
            redirectLifetime: Double(number)
        )
    }

    package static func validators(_ number: Int, padding: Int = 0) -> CacheValidators? {
        CacheValidators(record: record(number, padding: padding))
    }

    /// Returns the number that all the validators are of.
    package static func number(of validators: CacheValidators?) -> Int? {
        guard let validators, let etag = validators.etag, let number = Int(etag.dropFirst().dropLast()) else {
            return nil
        }
        let padding = validators.record?.headers["x-padding"]?.utf8.count ?? 0
        return validators == self.validators(number, padding: padding) ? number : nil
    }

    /// An entry with them.
    package static func entry(_ bytes: [UInt8], _ number: Int, padding: Int = 0, extendedData: Data? = nil)
        -> CachedImageData
    {
        CachedImageData(data: Data(bytes), extendedData: extendedData, validators: validators(number, padding: padding))
    }
}
