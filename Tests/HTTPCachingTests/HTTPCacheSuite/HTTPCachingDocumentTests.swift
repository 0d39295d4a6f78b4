import Testing

/// The document of the results.
@Suite struct HTTPCachingDocumentTests {
    private let files = [
        HTTPCacheCaseFile(
            group: "Things",
            cases: [
                HTTPCacheCase(id: "a", kind: .required, group: "Things"),
                HTTPCacheCase(id: "b", kind: .optimal, group: "Things", adaptation: "So.", reason: "One | two."),
                HTTPCacheCase(id: "c", kind: .check, group: "Things"),
            ]
        ),
        HTTPCacheCaseFile(left: [(reason: "Others.", ids: ["d", "e"])]),
    ]

    @Test func `The document has a row for each case, and reasons for those left out`() {
        let text = HTTPCachingDocument.text(files, complaints: ["a": [], "b": ["no"], "c": []])
        #expect(text.contains("| `a` | required | pass |  |\n"))
        #expect(text.contains("| `b` | optimal | does not | So. One \\| two. |\n"))
        #expect(text.contains("| `c` | check | yes |  |\n"))
        #expect(text.contains("Others. `d`, `e`\n"))
        #expect(text.contains("1 of 1 required cases pass, 0 of 1 optimal ones; 1 of 1 checks are answered with yes."))
    }

    @Test func `A case that was not run does not pass`() {
        let text = HTTPCachingDocument.text(files, complaints: ["b": []])
        #expect(text.contains("| `a` | required | **fail** |  |\n") && text.contains("| `c` | check | no |  |\n"))
        #expect(text.contains("| `b` | optimal | pass | So. |\n"))
    }
}
