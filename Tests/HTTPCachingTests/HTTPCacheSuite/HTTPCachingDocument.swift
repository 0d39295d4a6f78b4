/// The document of the cases' results.
enum HTTPCachingDocument {
    /// - Parameter complaints: Deviations by id; empty for a case that passes.
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

            Results of the public test suite for HTTP caches ([http-tests/cache-tests](https://github.com/http-tests/cache-tests)) for this
            library, as a private cache with `CachePolicy.http`. The ids are the suite's. The cases are written in a notation of this project,
            in `Tests/HTTPCachingTests/HTTPCacheSuite/Cases`.

            A `WebImageManager` with its own downloader and cache runs each case in virtual time, against a loopback server that responds as the
            case says and counts requests. Each case runs once with the memory cache, once without it so that the disk decides, and once against
            the decision function without loads. The loads have the option `retryFailed`: without it, a manager does not request a URL again
            after a response that was not an image, whatever the policy.

            The tests write this page (`WEBIMAGE_WRITE_HTTP_CACHING=1 swift test --filter HTTPCacheSuiteTests`), and fail if it differs from
            their results.

            The suite has three kinds of cases: required, optimal, and checks, which are questions without a wrong answer.
            \(counts[0].passed) of \(counts[0].all) required cases pass, \(counts[1].passed) of \(counts[1].all) optimal ones; \
            \(counts[2].passed) of \(counts[2].all) checks are answered with yes.
            The remark explains a result that differs from the suite's expectation, or what this project's case does differently.

            """
    }
}
