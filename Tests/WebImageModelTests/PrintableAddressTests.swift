import FoundationEssentials
import Testing

@testable import WebImageModel

@Suite struct PrintableAddressTests {
    @Test(arguments: [
        ("https://h/a.jpg", "https://h/a.jpg"), ("https://u:p@h/a.jpg", "https://***@h/a.jpg"),
        ("https://u@h?x=1", "https://***@h?x=1"), ("https://h/a@b.jpg", "https://h/a@b.jpg"),
        ("https://h/a?w=10&sig=abc", "https://h/a?w=10&sig=***"),
        ("https://h/a?SIG=abc#sig=x", "https://h/a?SIG=***#sig=***"),
        ("https://h/a?X-Amz-Signature=ab&X-Amz-Date=1", "https://h/a?X-Amz-Signature=***&X-Amz-Date=1"),
        (
            "https://h/a?X-Amz-Credential=ab%2Fc;X-Goog-Signature=1",
            "https://h/a?X-Amz-Credential=***;X-Goog-Signature=***"
        ),
        (
            "https://h/a?access_token=1&api-key=2&Key-Pair-Id=3",
            "https://h/a?access_token=***&api-key=***&Key-Pair-Id=***"
        ),
        ("https://h/a?token", "https://h/a?token"), ("https://h/a?token=", "https://h/a?token="),
        ("https://h/a?tokens=5&=x&&", "https://h/a?tokens=5&=x&&"), ("https://h/a?", "https://h/a?"), ("", ""),
        ("https://h/a?b=1?token=2", "https://h/a?b=1?token=2"),
        ("data:image/png;base64,AA==", "data:image/png;base64,AA=="),
    ])
    func `Secrets are removed, and everything else is unchanged`(address: String, expected: String) {
        #expect(PrintableAddress(address).description == expected)
    }

    @Test func `Errors contain addresses in this form`() {
        let url = URL(string: "https://u:p@h.example/a.jpg?w=1&Signature=deadbeef")
        let error = WebImageError(.timedOut, "no answer came", url: url)
        #expect(error.description == "https://***@h.example/a.jpg?w=1&Signature=***: no answer came")
        #expect(error.url == url, "it is available on request")
    }
}
