/// The document that says how the cases come out.
enum HTTPCachingDocument {
    /// - Parameter complaints: by id; empty for a case that is as expected.
    static func text(_ files: [HTTPCacheCaseFile], complaints: [String: [String]]) -> String {
        var text = introduction(files.flatMap(\.cases), complaints)
        for file in files where !file.cases.isEmpty {
            text += "\n## \(file.group)\n\n| case | kind | result | remark |\n|---|---|---|---|\n"
            for test in file.cases {
                let passes = complaints[test.id]?.isEmpty ?? false
                let remarks = [test.adaptation, passes ? nil : test.reason].compactMap(\.self)
                let remark = remarks.joined(separator: " ").replacing("|", with: "\\|")
                text += "| `\(test.id)` | \(test.kind) | \(result(test.kind, passes)) | \(remark) |\n"
            }
        }
        text += "\n## Not run\n"
        for (reason, ids) in files.flatMap(\.left) {
            text += "\n\(reason) " + ids.map { "`\($0)`" }.joined(separator: ", ") + "\n"
        }
        return text
    }

    private static func result(_ kind: HTTPCacheCase.Kind, _ passes: Bool) -> String {
        if kind == .check { return passes ? "yes" : "no" }
        return passes ? "pass" : kind == .required ? "**fail**" : "does not"
    }

    private static func introduction(_ cases: [HTTPCacheCase], _ complaints: [String: [String]]) -> String {
        let counts = [HTTPCacheCase.Kind.required, .optimal, .check].map { kind in
            let ofKind = cases.filter { $0.kind == kind }
            return (passed: ofKind.count { complaints[$0.id]?.isEmpty ?? false }, all: ofKind.count)
        }
        return """
            # HTTP caching, case by case

            How the library, as a private cache under `CachePolicy.http`, comes out of the public suite of tests for HTTP caches
            ([http-tests/cache-tests](https://github.com/http-tests/cache-tests)). The ids are the suite's; the cases are written down in
            `Tests/HTTPCachingTests/HTTPCacheSuite/Cases`, in words of our own. Each is run by a `WebImageManager` with a downloader and
            a cache of its own against a server on loopback that does what the case says and counts its requests, in virtual time: once
            with what is in memory, and once with all of that forgotten before each load, so that the disk decides. It is run once more
            against the decisions alone. Loads have the option `retryFailed`: without it a manager does not ask again for a URL that brought
            bytes which are no picture, whatever the policy.

            This page is written by the tests, `WEBIMAGE_WRITE_HTTP_CACHING=1 swift test --filter HTTPCacheSuiteTests`, which fail when it
            differs from what they see.

            Of \(counts[0].all) required cases \(counts[0].passed) pass, of \(counts[1].all) that are called optimal \(counts[1].passed) do; \
            \(counts[2].all) are questions, \(counts[2].passed) of them answered with yes. The remark says why a case comes out otherwise than hoped.

            """
    }
}
