import FoundationEssentials
import TestSupport

@testable import WebImageFleet

/// Documents of S3 and of the services that have its credentials.
extension FuzzTarget {
    static let s3: [FuzzTarget] = [
        FuzzTarget(
            name: "bucket-documents",
            summary: "errors, lists, sums and metadata of S3; credentials as JSON and profiles; addresses of buckets",
            seeds: { documentSeeds.map { Data($0.utf8) } },
            check: checkDocuments
        )
    ]

    private static let documentSeeds = [
        "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code><Message>x</Message></Error>",
        #"{"Code":"Success","AccessKeyId":"a","SecretAccessKey":"b","Token":"c","Expiration":"2033-05-18T03:33:20Z"}"#,
        "[default]\naws_access_key_id = a\naws_secret_access_key=b\n[profile p]\naws_session_token=c ; d\n",
        "s3://bucket/a%20b/c?endpoint=http://[::1]:9000&region=eu-west-1&style=path", "2033-05-18T03:33:20.5Z",
        "<ListBucketResult><IsTruncated>true</IsTruncated><Contents>"
            + "<Key>wi1/00112233445566778899aabbccddeeff</Key><Size>7</Size></Contents>",
        #"{"hits":12,"misses":3}"#, "8,ODk=,0,AP8=,4,Yw==",
    ]

    /// Whatever is found can be sent as a part of a request.
    @Sendable private static func checkDocuments(_ data: Data) throws(FuzzFinding) {
        if let code = S3Refusal.code(in: data) {
            let isWord = code.utf8.allSatisfy { byte in byte.isASCIILetterOrDigit }
            try must(isWord && (1...80).contains(code.utf8.count), "the code is not a word")
        }
        for status in [200, 301, 400, 403, 404, 409, 412, 416, 501, 503] {
            _ = S3Refusal(statusCode: status, body: data, isOptional: status % 2 == 0)
        }
        let text = String(decoding: data, as: UTF8.self)
        try checkStore(data, text)
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

    /// What a store keeps beside its values.
    private static func checkStore(_ data: Data, _ text: String) throws(FuzzFinding) {
        if let list = S3List(document: data) {
            try must(
                (0...data.count / 36).contains(list.count) && list.byteCount >= 0,
                "a list has more than its bytes"
            )
            if let (count, bytes) = list.estimate {
                try must(count >= list.count && bytes >= list.byteCount, "an estimate is below what was listed")
            }
        }
        if var sums = S3Counts(document: data) {
            sums.add([("hits", .max), ("misses", 1), ("read", .min)])
            try must(sums.sums.allSatisfy { $0.value >= 0 } && sums.statistics.hitCount == .max, "a sum is below 0")
            try must(S3Counts(document: sums.document) ?? sums == sums, "sums change when they are written")
        }
        if S3Counts.isTag(text) { try must(isVisible(text), "an entity tag is no text of a header field") }
        guard let amendment = S3Amendment(text) else { return }
        guard let written = amendment.text else { return }
        try must(S3Amendment(written) == amendment, "an amendment changes when it is written")
        for value in [data, Data("0123456789".utf8), Data()] {
            try must(amendment.applied(to: value).count == value.count, "an amendment changes the length")
        }
    }

    private static func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { $0 > 32 && $0 < 127 } }
}

extension UInt8 {
    fileprivate var isASCIILetterOrDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) || (48...57).contains(self)
    }
}
