import Testing

@testable import WebImage

@Suite struct CacheValidatorsTests {
    @Test func `One of the two is enough, and none is none`() {
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

    @Test func `A value of 1 KiB is taken`() {
        let value = String(repeating: "a", count: 1024)
        #expect(CacheValidators(etag: value, lastModified: nil)?.etag == value)
    }
}
