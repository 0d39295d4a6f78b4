import ModelTestSupport
import Testing

@testable import WebImageModel

@Suite struct CacheValidatorsTests {
    @Test func `One of the two validators is enough, and none is nil`() {
        #expect(CacheValidators(etag: "\"a\"", lastModified: nil)?.etag == "\"a\"")
        #expect(CacheValidators(etag: nil, lastModified: "Thu, 01 Jan 1970 00:00:00 GMT")?.etag == nil)
        #expect(CacheValidators(etag: nil, lastModified: nil) == nil)
    }

    @Test(arguments: ["", "a\r\nb", "a\nb", "a\rb", "a\0b", String(repeating: "a", count: 1025)])
    func `A value that could not be sent back counts as none`(value: String) {
        #expect(CacheValidators(etag: value, lastModified: nil) == nil)
        let other = CacheValidators(etag: value, lastModified: "yesterday")
        #expect(other?.etag == nil && other?.lastModified == "yesterday")
    }

    @Test func `A record is enough, and gives its validators`() {
        let record = StoredRecords.record(3)
        let validators = CacheValidators(record: record)
        #expect(validators?.record == record && validators?.etag == "\"3\"" && validators?.lastModified == nil)
        var bare = record
        bare.headers = [:]
        #expect(CacheValidators(record: bare)?.etag == nil && CacheValidators(record: bare)?.mayChange == true)
        #expect(CacheValidators(record: nil) == nil)
        bare.headers = ["etag": "a\nb"]
        #expect(CacheValidators(record: bare)?.etag == nil)
        #expect(CacheValidators(record: record) != CacheValidators(etag: "\"3\"", lastModified: nil))
    }

    @Test func `The hash of the received data is added to any validators`() {
        let record = StoredRecords.record(3)
        let with = CacheValidators(record: record).with(receivedHash: 5)
        #expect(with?.receivedHash == 5 && with?.record == record && with?.etag == "\"3\"")
        let alone = CacheValidators?.none.with(receivedHash: 5)
        #expect(alone?.receivedHash == 5 && alone?.mayChange == false)
    }

    @Test func `A value of 1 KiB is accepted`() {
        let value = String(repeating: "a", count: 1024)
        #expect(CacheValidators(etag: value, lastModified: nil)?.etag == value)
    }
}
