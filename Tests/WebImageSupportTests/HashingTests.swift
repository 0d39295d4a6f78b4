import Testing
import WebImageSupport

@Suite struct HashingTests {
    /// From Python's hashlib: the message ends in every part of a block.
    @Test(arguments: [
        (0, "d41d8cd98f00b204e9800998ecf8427e"),
        (1, "cfcd208495d565ef66e7dff9f98764da"),
        (54, "3dff83c8fadd26370d5b098409644457"),
        (55, "6e7a4fc92eb1c3f6e652425bcc8d44b5"),
        (56, "8af270b2847610e742b0791b53648c09"),
        (57, "c620bace4cde41bc45a14cfa62ee3487"),
        (63, "c5e256437e758092dbfe06283e489019"),
        (64, "7f7bfd348709deeaace19e3f535f8c54"),
        (65, "beb9f48bc802ca5ca043bcc15e219a5a"),
        (119, "42eec8502cb0ed8f0d05aa5a24463b6a"),
        (120, "71877a6051c58e0e9246babc177ca5f2"),
        (127, "21e222f8c8b8ab9030e89a4534a7f5e9"),
        (128, "1f7d0dad0e987e87a084268b8aaaf77b"),
        (1000, "427008b3fe192f663d665f56cd75716c"),
    ])
    func `MD5 of a text of any length equals other programs'`(length: Int, expected: String) {
        let text = String(String(repeating: "0123456789", count: 100).prefix(length))
        #expect(Hashing.md5Hex(text) == expected)
    }

    @Test func `MD5 is of the bytes of UTF-8`() {
        #expect(Hashing.md5Hex("https://bücher.example/ﬁ.png") == "2b1e72e172318fb00cbea2664a9d23ea")
    }
}
