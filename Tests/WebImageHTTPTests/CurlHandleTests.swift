import ModelTestSupport
import Testing

@testable import WebImageHTTP

@Suite(.tags(.addressSanitizer)) struct CurlHandleTests {
    @Test(arguments: [
        ("http://user@host/", true), ("https://user:word@host:81/a", true), ("http://host/picture@2x.png", false),
        ("http://host?mail=a@b", false), ("http://host#a@b", false), ("http://host", false), ("", false),
    ]) func `Only an at sign before the host makes a user name`(address: String, namesUser: Bool) {
        #expect((DownloaderCore.authority(of: address)?.contains(UInt8(ascii: "@")) ?? false) == namesUser)
    }
}
