import FoundationEssentials
import TestSupport

@testable import WebImageFleet

/// Documents of S3 and of the services that have its credentials.
extension FuzzTarget {
    static let s3: [FuzzTarget] = [
        FuzzTarget(
            name: "bucket-documents",
            summary: "errors of S3, credentials as JSON and as profiles of a file, addresses of buckets",
            seeds: { documentSeeds.map { Data($0.utf8) } },
            check: checkDocuments
        )
    ]

    private static let documentSeeds = [
        "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code><Message>x</Message></Error>",
        #"{"Code":"Success","AccessKeyId":"a","SecretAccessKey":"b","Token":"c","Expiration":"2033-05-18T03:33:20Z"}"#,
        "[default]\naws_access_key_id = a\naws_secret_access_key=b\n[profile p]\naws_session_token=c ; d\n",
        "s3://bucket/a%20b/c?endpoint=http://[::1]:9000&region=eu-west-1&style=path", "2033-05-18T03:33:20.5Z",
    ]

    /// Whatever is found can be sent as a part of a request.
    @Sendable private static func checkDocuments(_ data: Data) throws(FuzzFinding) {
        if let code = S3Refusal.code(in: data) {
            let isWord = code.utf8.allSatisfy { byte in byte.isASCIILetterOrDigit }
            try must(isWord && (1...80).contains(code.utf8.count), "the code is not a word")
        }
        for status in [200, 301, 400, 403, 404, 409, 412, 416, 501, 503] {
            _ = S3Refusal(statusCode: status, body: data, isConditional: status % 2 == 0)
        }
        let text = String(decoding: data, as: UTF8.self)
        let found = [
            AWSCredentials(json: data), AWSCredentials(profile: "default", inFile: text),
            AWSCredentials(profile: "p", inFile: text),
        ]
        for credentials in found.compactMap({ $0 }) {
            let parts = [credentials.keyID, credentials.secret, credentials.token ?? "x"]
            try must(parts.allSatisfy { !$0.isEmpty && isVisible($0) }, "credentials are no text of a header field")
        }
        if let time = AWSCredentials.time(text) { try must((0..<3e11).contains(time), "a time is out of range") }
        guard let configuration = try? S3Configuration(url: text, settings: AWSSettings([:])) else { return }
        guard let object = configuration.object("wi1/0") else { throw FuzzFinding("an address has no objects") }
        try must(isVisible(object.host) && isVisible(object.path), "an address is no text of a request")
        try must(object.path.hasSuffix("wi1/0"), "an object has another name")
    }

    private static func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { $0 > 32 && $0 < 127 } }
}

extension UInt8 {
    fileprivate var isASCIILetterOrDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) || (48...57).contains(self)
    }
}
