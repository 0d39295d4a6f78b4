import Testing

@testable import WebImageLoading

@Suite struct WordingTests {
    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1 KB"), (1049, "1 KB"), (1050, "1.1 KB"), (9949, "9.9 KB"), (9950, "10 KB"),
        (999_499, "999 KB"), (999_500, "1 MB"), (12_345_678, "12 MB"), (Int64.max, "9.2 EB"),
    ])
    func `Bytes have one decimal below ten`(count: Int64, text: String) { #expect(Wording.bytes(count) == text) }

    @Test(arguments: [
        (0.0, "0 s"), (-1, "0 s"), (.nan, "0 s"), (.infinity, "0 s"), (0.00001, "less than 0.1 ms"),
        (0.00006, "0.1 ms"),
        (0.001, "1 ms"), (0.0095, "9.5 ms"), (0.041, "41 ms"), (0.9994, "999 ms"), (0.9996, "1 s"), (1.44, "1.4 s"),
        (14.2, "14 s"), (99.4, "99 s"), (125, "2 min 5 s"), (1e20, "forever"),
    ])
    func `Durations have a fitting unit`(seconds: Double, text: String) {
        #expect(Wording.duration(seconds: seconds) == text)
    }

    @Test func `One is singular`() {
        #expect(Wording.count(1, "redirect") == "1 redirect" && Wording.count(2, "redirect") == "2 redirects")
        #expect(Wording.capitalized("") == "" && Wording.capitalized("ab c") == "Ab c")
    }
}
