import Glibc
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

    private static var hasOpenSSL: Bool {
        CurlHandle() != nil && dlopen("libcrypto.so.3", RTLD_LAZY | RTLD_NOLOAD) != nil
    }

    @Test(.enabled(if: hasOpenSSL, "libcurl uses another library than OpenSSL"))
    func `OpenSSL frees nothing at exit, which a thread that ends may free, too`() async {
        await #expect(processExitsWith: .success) {
            let handle = try #require(CurlHandle())
            let library = try #require(dlopen("libcrypto.so.3", RTLD_LAZY | RTLD_NOLOAD))
            let symbol = try #require(dlsym(library, "OPENSSL_atexit"))
            typealias Register = @convention(c) (@convention(c) () -> Void) -> Int32
            let register = unsafeBitCast(symbol, to: Register.self)
            // What is registered here runs when OpenSSL cleans up.
            #expect(register({ _exit(3) }) == 1)
            withExtendedLifetime(handle) {}
            exit(0)
        }
    }
}
