import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImageFakes

@testable import WebImageFleet

@Suite struct AWSCredentialTests {
    private let document = #"""
        {"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": "ASIA1", "SecretAccessKey": "s/+", "Token": "t==",
        "Expiration": "2033-05-18T03:33:20Z", "LastUpdated": "2033-05-17T00:00:00Z"}
        """#

    @Test func `The document of a metadata service is read`() throws {
        let credentials = try #require(AWSCredentials(json: Data(document.utf8)))
        #expect(credentials == AWSCredentials(keyID: "ASIA1", secret: "s/+", token: "t==", expiry: 2_000_000_000))
        #expect(!"\(credentials)".contains("s/+") && !String(reflecting: credentials).contains("s/+"))
    }

    @Test(arguments: [
        "", "{}", "[]", "null", "{\"AccessKeyId\": 1}",
        #"{"AccessKeyId": "a", "SecretAccessKey": "b", "Token": "c", "Expiration": "soon"}"#,
        #"{"AccessKeyId": "a", "SecretAccessKey": "b\r\nX: y", "Token": "c", "Expiration": "2033-05-18T03:33:20Z"}"#,
        #"{"AccessKeyId": "a", "SecretAccessKey": "b", "Token": "c d", "Expiration": "2033-05-18T03:33:20Z"}"#,
        String(repeating: "[", count: 60_000),
    ])
    func `Another document has no credentials`(text: String) { #expect(AWSCredentials(json: Data(text.utf8)) == nil) }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0.0), ("2033-05-18T03:33:20Z", 2_000_000_000),
        ("2033-05-18T03:33:20.123Z", 2_000_000_000),
        ("2000-02-29T23:59:59Z", 951_868_799),
    ])
    func `Times are read`(text: String, seconds: Double) { #expect(AWSCredentials.time(text) == seconds) }

    @Test(arguments: [
        "", "Z", ".Z", "2033-05-18T03:33:20", "2033-05-18 03:33:20Z", "2033-13-18T03:33:20Z", "2033-05-18T24:33:20Z",
        "2033-05-18T03:33:2xZ", "-033-05-18T03:33:20Z", "1969-05-18T03:33:20Z",
    ])
    func `Other times are refused`(text: String) { #expect(AWSCredentials.time(text) == nil) }

    @Test func `A profile of a file is read`() {
        let text = """
            # comment
            [default]
            aws_access_key_id = AKID
              aws_secret_access_key=se/cret   ; comment
            region = x
            [profile work]
            AWS_ACCESS_KEY_ID=WORK\r
            aws_secret_access_key = other=\r
            aws_session_token = token==
            [ broken ]
            aws_access_key_id = only
            [empty]
            """
        #expect(AWSCredentials(profile: "default", inFile: text) == AWSCredentials(keyID: "AKID", secret: "se/cret"))
        #expect(
            AWSCredentials(profile: "work", inFile: text)
                == AWSCredentials(keyID: "WORK", secret: "other=", token: "token==")
        )
        for profile in ["broken", "empty", "none", ""] {
            #expect(AWSCredentials(profile: profile, inFile: text) == nil)
        }
    }

    @Test func `The environment comes first, then a file, then the service of a container or an instance`() throws {
        func origins(_ values: [String: String]) -> [AWSCredentialOrigin] { AWSSettings(values).credentialOrigins }
        let keys = try #require(AWSCredentials(keyID: "a", secret: "b", token: "c"))
        let environment = [
            "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "c", "HOME": "/h",
        ]
        #expect(origins(environment) == [.fixed(keys)])
        let instance = try #require(URL(string: "http://169.254.169.254"))
        let file = AWSCredentialOrigin.file(path: "/h/.aws/credentials", profile: "default")
        #expect(origins(["HOME": "/h"]) == [file, .instance(instance)])
        #expect(origins(["HOME": "/h", "AWS_EC2_METADATA_DISABLED": "TRUE"]) == [file])
        #expect(
            origins(["AWS_SHARED_CREDENTIALS_FILE": "/f", "AWS_PROFILE": "p", "AWS_EC2_METADATA_DISABLED": "true"])
                == [.file(path: "/f", profile: "p")]
        )
        let agent = try #require(URL(string: "http://169.254.170.2/v2/x"))
        #expect(origins(["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/x"]) == [.container(agent, nil)])
        let pod = try #require(URL(string: "http://169.254.170.23/v1/credentials"))
        #expect(
            origins([
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": pod.absoluteString,
                "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/t",
            ]) == [.container(pod, .file("/t"))]
        )
    }

    @Test(arguments: [
        "http://example.com/x", "http://169.254.169.254/x", "http://127.0.0.1.example.com/", "http://user@127.0.0.1/x",
        "ftp://127.0.0.1/x", "http://10.0.0.1/x", "http:///x", "127.0.0.1",
    ])
    func `A container's credentials are not asked for over plain HTTP elsewhere`(text: String) {
        #expect(AWSSettings(["AWS_CONTAINER_CREDENTIALS_FULL_URI": text]).credentialOrigins.isEmpty)
    }

    @Test(arguments: [
        "http://127.0.0.1:80/x", "http://localhost/x", "http://[::1]/x", "http://169.254.170.2/x",
        "http://[fd00:ec2::23]/x",
        "https://example.com/x",
    ])
    func `They are asked for on this machine, at the agents, and over TLS`(text: String) {
        #expect(AWSSettings(["AWS_CONTAINER_CREDENTIALS_FULL_URI": text]).credentialOrigins.count == 1)
    }
}

/// Services on loopback.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(2)))
struct AWSMetadataTests {
    private static func document(_ keyID: String) -> [UInt8] {
        Array(
            #"{"AccessKeyId": "\#(keyID)", "SecretAccessKey": "s", "Token": "t", "Expiration": "2033-05-18T03:33:20Z"}"#
                .utf8
        )
    }

    private func credentials(_ settings: [String: String], patience: Double = 20) async -> AWSCredentials? {
        let origins = AWSSettings(settings).credentialOrigins
        return await valueOnThread { AWSMetadata(patience: patience).credentials(from: origins) }
    }

    @Test func `The service of an instance is asked with a token of a session`() async throws {
        let server = try LoopbackServer { request in
            let isAllowed = request.header("X-aws-ec2-metadata-token") == "session"
            switch (request.method, request.path) {
            case ("PUT", "/latest/api/token"):
                let hasLifetime = request.header("X-aws-ec2-metadata-token-ttl-seconds") == "21600"
                return hasLifetime ? .response(body: Array("session".utf8)) : .response(400)
            case ("GET", "/latest/meta-data/iam/security-credentials/") where isAllowed:
                return .response(body: Array("my-role\n".utf8))
            case ("GET", "/latest/meta-data/iam/security-credentials/my-role") where isAllowed:
                return .response(body: Self.document("ASIAROLE"))
            default: return .response(401)
            }
        }
        let settings = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(server.port)"]
        #expect(await credentials(settings)?.keyID == "ASIAROLE")
        #expect(server.requestCount() == 3)
    }

    @Test(arguments: ["../../x", "a/b", "", "..", "a b", String(repeating: "a", count: 200)])
    func `What is no name of a role is not asked for`(name: String) async throws {
        let server = try LoopbackServer { request in
            request.method == "PUT" ? .response(body: [65]) : .response(body: Array(name.utf8))
        }
        let settings = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(server.port)"]
        #expect(await credentials(settings) == nil)
        #expect(server.requestCount() == 2)
    }

    @Test func `The agent of a container gets the token of a file`() async throws {
        let server = try LoopbackServer { request in
            request.header("Authorization") == "Bearer abc" ? .response(body: Self.document("ASIAPOD")) : .response(403)
        }
        let directory = TemporaryDirectory()
        let path = directory.path("token")
        try Data("Bearer abc\n".utf8).write(to: URL(filePath: path))
        let address = "http://127.0.0.1:\(server.port)/v1/credentials"
        var settings = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": address, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": path]
        #expect(await credentials(settings)?.keyID == "ASIAPOD")
        try Data("Bearer abc\r\nX: \u{7}".utf8).write(to: URL(filePath: path))
        #expect(await credentials(settings) == nil)
        settings["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = directory.path("none")
        #expect(await credentials(settings) == nil)
        #expect(server.requestCount() == 1)
    }

    @Test func `A service that lies, redirects, is silent or floods has no credentials`() async throws {
        let target = try LoopbackServer { _ in .response(body: Self.document("ASIAOTHER")) }
        let responses: [LoopbackResponse] = [
            .redirect(to: target.url("/").absoluteString), .endless, .response(500), .closeWithoutAnswer,
            .response(body: [UInt8](repeating: 32, count: 1 << 20)), .response(body: Array("{}".utf8)),
        ]
        for response in responses {
            let server = try LoopbackServer { _ in response }
            #expect(await credentials(["AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url("/").absoluteString]) == nil)
        }
        let silent = try LoopbackServer { _ in .silence }
        let settings = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": silent.url("/").absoluteString]
        #expect(await credentials(settings, patience: 0.2) == nil)
        #expect(target.requestCount() == 0)
    }

    @Test func `A file that is missing or no file has no credentials`() async throws {
        for path in ["/nonexistent", "/", "/dev/zero"] {
            let settings = ["AWS_SHARED_CREDENTIALS_FILE": path, "AWS_EC2_METADATA_DISABLED": "true"]
            #expect(await credentials(settings) == nil)
        }
    }
}

@Suite struct CredentialScheduleTests {
    @Test func `Credentials are fetched once, used, and replaced before they end`() {
        var schedule = CredentialSchedule()
        #expect(schedule.decide(at: 0, hasCredentials: false) == .fetch)
        #expect(schedule.decide(at: 0, hasCredentials: false) == .wait)
        schedule.fetched(expiry: 1000, at: 1)
        #expect(schedule.decide(at: 2, hasCredentials: true) == .use)
        #expect(schedule.decide(at: 700, hasCredentials: true) == .use)
        #expect(schedule.decide(at: 701, hasCredentials: true) == .useAndFetch)
        #expect(schedule.decide(at: 702, hasCredentials: true) == .use)
        // The service has no new ones yet.
        schedule.fetched(expiry: 1000, at: 702)
        #expect(schedule.decide(at: 702.5, hasCredentials: true) == .use)
        #expect(schedule.decide(at: 703, hasCredentials: true) == .useAndFetch)
        schedule.fetched(expiry: Double??.none, at: 703)
        #expect(schedule.decide(at: 703.5, hasCredentials: true) == .use)
        #expect(schedule.decide(at: 991, hasCredentials: true) == .fetch, "they are about to end")
        schedule.fetched(expiry: 5000, at: 992)
        #expect(schedule.decide(at: 993, hasCredentials: true) == .use)
    }

    @Test func `Attempts that fail become rarer, and a clock that goes back does not stop them`() {
        var schedule = CredentialSchedule()
        var now = 0.0
        for pause in [1.0, 2, 4, 8, 16, 30, 30] {
            #expect(schedule.decide(at: now, hasCredentials: false) == .fetch)
            schedule.fetched(expiry: Double??.none, at: now)
            #expect(schedule.decide(at: now + pause - 0.1, hasCredentials: false) == .fail)
            now += pause
        }
        #expect(schedule.decide(at: -1000, hasCredentials: false) == .fetch)
    }

    @Test func `Those without an end are used until they are refused`() {
        var schedule = CredentialSchedule()
        _ = schedule.decide(at: 0, hasCredentials: false)
        schedule.fetched(expiry: Double??.some(nil), at: 0)
        #expect(schedule.decide(at: 1e9, hasCredentials: true) == .use)
        schedule.refused(at: 1e9)
        #expect(schedule.decide(at: 1e9, hasCredentials: false) == .fetch)
    }
}
