import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageFleet

/// Published test vectors.
@Suite(.tags(.addressSanitizer))
struct SHA256Tests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 100_000), "6d1cf22d7cc09b085dfc25ee1a1f3ae0265804c607bc2074ad253bcc82fd81ee"),
    ])
    func `Hashes of FIPS 180-4`(text: String, hash: String) {
        #expect(SHA256.hash(Array(text.utf8)).map(SHA256.hexadecimal) == hash)
    }

    @Test(arguments: [
        (
            [UInt8](repeating: 0x0b, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `Codes of RFC 4231`(key: [UInt8], message: String, code: String) {
        #expect(SHA256.code(of: Array(message.utf8), key: key).map(SHA256.hexadecimal) == code)
    }
}

/// The examples of AWS: those of the reference of S3, and of the test suite of Signature Version 4.
@Suite struct AWSSignerTests {
    private let example = AWSCredentials(
        keyID: "AKIAIOSFODNN7EXAMPLE",
        secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    )
    private let time = AWSSigner.Time(secondsSince1970: 1_369_353_600)

    private func signature(_ request: AWSSigner.Request) throws -> String {
        let credentials = try #require(example)
        return try #require(AWSSigner(region: "us-east-1").authorization(for: request, at: time, credentials))
    }

    @Test func `A part of an object is read as in the reference of S3`() throws {
        let request = AWSSigner.Request(
            method: "GET",
            path: "/test.txt",
            fields: [
                "host": "examplebucket.s3.amazonaws.com", "range": "bytes=0-9",
                "x-amz-content-sha256": AWSSigner.emptyHash, "x-amz-date": time.text,
            ],
            bodyHash: AWSSigner.emptyHash
        )
        #expect(
            try signature(request)
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        )
    }

    @Test func `An object is written as in the reference of S3`() throws {
        let hash = SHA256.hexadecimal(try #require(SHA256.hash(Array("Welcome to Amazon S3.".utf8))))
        #expect(hash == "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
        let request = AWSSigner.Request(
            method: "PUT",
            path: AWSSigner.encoded(path: "/test$file.text"),
            fields: [
                "date": "Fri, 24 May 2013 00:00:00 GMT", "host": "examplebucket.s3.amazonaws.com",
                "x-amz-content-sha256": hash, "x-amz-date": time.text, "x-amz-storage-class": "REDUCED_REDUNDANCY",
            ],
            bodyHash: hash
        )
        let value = try signature(request)
        #expect(value.hasSuffix("Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"))
    }

    @Test(arguments: [
        (["max-keys": "2", "prefix": "J"], "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
        (["lifecycle": ""], "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    ])
    func `A bucket is asked as in the reference of S3`(query: [String: String], signature: String) throws {
        let request = AWSSigner.Request(
            method: "GET",
            path: "/",
            query: AWSSigner.encoded(query: query),
            fields: [
                "host": "examplebucket.s3.amazonaws.com", "x-amz-content-sha256": AWSSigner.emptyHash,
                "x-amz-date": time.text,
            ],
            bodyHash: AWSSigner.emptyHash
        )
        #expect(try self.signature(request).hasSuffix("Signature=\(signature)"))
    }

    @Test(arguments: [
        ("GET", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    ])
    func `Requests of the test suite have its signatures`(method: String, signature: String) throws {
        let time = AWSSigner.Time(secondsSince1970: 1_440_938_160)
        #expect(time.text == "20150830T123600Z")
        let credentials = AWSCredentials(keyID: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
        let request = AWSSigner.Request(
            method: method,
            path: "/",
            fields: ["host": "example.amazonaws.com", "x-amz-date": time.text],
            bodyHash: AWSSigner.emptyHash
        )
        let signer = AWSSigner(region: "us-east-1", service: "service")
        #expect(
            signer.authorization(for: request, at: time, try #require(credentials))
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                + "SignedHeaders=host;x-amz-date, Signature=\(signature)"
        )
    }

    @Test func `Paths are encoded but for unreserved characters and slashes`() {
        #expect(AWSSigner.encoded(path: "/aZ09-._~/") == "/aZ09-._~/")
        #expect(AWSSigner.encoded(path: "a b+ä:{}%") == "a%20b%2B%C3%A4%3A%7B%7D%25")
        #expect(AWSSigner.encoded(path: "") == "" && AWSSigner.encoded(path: "//a/") == "//a/")
        #expect(AWSSigner.encoded(query: ["b": "x/y &=", "a-": ""]) == "a-=&b=x%2Fy%20%26%3D")
    }

    @Test func `Any time has a text`() {
        for time in [-1e300, 0, Double.nan, 1e300, .infinity] {
            #expect(AWSSigner.Time(secondsSince1970: time).text.utf8.count == 16)
        }
        #expect(AWSSigner.Time(secondsSince1970: 951_868_799.9).text == "20000229T235959Z")
    }
}

@Suite struct S3ConfigurationTests {
    private func configuration(_ url: String, _ settings: [String: String] = [:]) throws -> S3Configuration {
        try S3Configuration(url: url, settings: AWSSettings(settings))
    }

    @Test func `Addresses have the styles of S3`() throws {
        let plain = try #require(try configuration("s3://bucket").object("wi1/a"))
        #expect(plain.url.absoluteString == "https://bucket.s3.us-east-1.amazonaws.com/wi1/a")
        #expect(plain.host == "bucket.s3.us-east-1.amazonaws.com" && plain.path == "/wi1/a")
        let dotted = try #require(try configuration("s3://my.bucket/p/q?region=eu-west-1").object("a"))
        #expect(dotted.url.absoluteString == "https://s3.eu-west-1.amazonaws.com/my.bucket/p/q/a")
        let china = try #require(try configuration("s3://bucket?region=cn-north-1").object("a"))
        #expect(china.host == "bucket.s3.cn-north-1.amazonaws.com.cn")
        let own = try #require(try configuration("s3://bucket/p/?endpoint=http://Store.internal:9000/").object("a"))
        #expect(own.url.absoluteString == "http://store.internal:9000/bucket/p/a")
        #expect(own.host == "store.internal:9000")
        let virtual = try configuration("s3://bucket?endpoint=https://store.internal:443&style=virtual")
        #expect(virtual.object("a")?.url.absoluteString == "https://bucket.store.internal/a")
        let lists = ["s3://bucket/p", "s3://bucket/p?endpoint=http://store"].map { url in
            (try? configuration(url))?.object(nil, query: "list-type=2")?.url.absoluteString
        }
        #expect(lists == ["https://bucket.s3.us-east-1.amazonaws.com/?list-type=2", "http://store/bucket?list-type=2"])
        let six = try configuration("s3://bucket?endpoint=http://[::1]:9000")
        #expect(six.object("a")?.host == "[::1]:9000")
        let bare = try configuration("s3://bucket?endpoint=store.internal")
        #expect(bare.object("a")?.url.absoluteString == "https://store.internal/bucket/a")
    }

    @Test func `The environment has defaults of region and endpoint`() throws {
        let settings = [
            "AWS_REGION": "eu-north-1", "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9000", "AWS_ENDPOINT_URL": "x:",
        ]
        let found = try configuration("s3://bucket", settings)
        #expect(found.region == "eu-north-1")
        #expect(found.object("a")?.url.absoluteString == "http://127.0.0.1:9000/bucket/a")
        #expect(try configuration("s3://bucket", ["AWS_DEFAULT_REGION": "x-1"]).region == "x-1")
        #expect(try configuration("s3://bucket?region=y-1", settings).region == "y-1")
    }

    @Test(arguments: [
        "", "bucket", "s3:", "s3://", "s3://ab", "s3://UPPER_case", "s3://-abc", "s3://a..b", "http://bucket",
        "s3://user:secret@bucket", "s3://bucket:80", "s3://bucket#x", "s3://bucket?x=1", "s3://bucket?region=",
        "s3://bucket?region=a/b", "s3://bucket?region=a&region=b", "s3://bucket?style=other", "s3://bucket/../x",
        "s3://bucket/./x", "s3://bucket?endpoint=ftp://h", "s3://bucket?endpoint=http://u:p@h",
        "s3://bucket?endpoint=http://h/path", "s3://bucket?endpoint=http://h:0", "s3://bucket?endpoint=http://",
        "s3://bucket/a%00b", "s3://bucket?endpoint=http://127.0.0.1:9000&style=virtual",
        "s3://bucket?endpoint=http://[::1]&style=virtual",
    ])
    func `Other addresses are refused`(text: String) {
        #expect(throws: S3Configuration.Problem.self) { try configuration(text) }
    }

    @Test func `An error does not contain a secret`() throws {
        let error = #expect(throws: WebImageError.self) {
            try RemoteImageStore(s3: "s3://key:very-secret@bucket?region=eu-west-1")
        }
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains("very-secret") == false)
    }

    @Test func `Names of objects are those of entries without signs`() {
        let name = RemoteNames(namespace: "trusted").entry(forKey: "a")
        let object = S3Store.objectName(name)
        #expect(object.hasPrefix("wi1/") && object.utf8.count == 36)
        #expect(AWSSigner.encoded(path: object) == object)
    }
}
