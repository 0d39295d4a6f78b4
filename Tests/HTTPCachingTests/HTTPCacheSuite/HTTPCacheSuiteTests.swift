import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

/// The public test suite for HTTP caches, against the whole library. `Documentation/HTTPCaching.md` has the results.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HTTPCacheSuiteTests {
    /// Deviations of all cases, by id.
    private func run(_ cases: [HTTPCacheCase], forgets: Bool) async throws -> [String: [String]] {
        let run = try HTTPCacheManagerRun()
        var complaints: [String: [String]] = [:]
        for test in cases { complaints[test.id] = await run.complaints(test, forgets: forgets) }
        return complaints
    }

    @Test func `Required cases pass, others pass or give a reason, and the document lists the results`() async throws {
        let files = try HTTPCacheCaseParser.all()
        let cases = files.flatMap(\.cases)
        let complaints = try await run(cases, forgets: false)
        for test in cases {
            let seen = complaints[test.id] ?? ["not run"]
            if test.reason == nil {
                #expect(seen.isEmpty, "\(test.id)")
            } else {
                #expect(!seen.isEmpty, "\(test.id) says why it does not pass, and passes")
                #expect(test.kind != .required, "\(test.id) is required")
            }
        }
        let text = HTTPCachingDocument.text(files, complaints: complaints)
        let path = Self.document
        if getenv("WEBIMAGE_WRITE_HTTP_CACHING") != nil {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
        let written = FileManager.default.contents(atPath: path).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(written == text, "Documentation/HTTPCaching.md differs from the results")
    }

    @Test func `From disk only, cases end the same way`() async throws {
        // Errors are remembered only in memory.
        let cases = try HTTPCacheCaseParser.all().flatMap(\.cases).filter { !$0.expectsRememberedError }
        let complaints = try await run(cases, forgets: true)
        for test in cases {
            #expect(complaints[test.id]?.isEmpty == (test.reason == nil), "\(test.id)")
        }
    }

    private static var document: String {
        var directory = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { directory.deleteLastPathComponent() }
        return directory.path + "/Documentation/HTTPCaching.md"
    }
}
