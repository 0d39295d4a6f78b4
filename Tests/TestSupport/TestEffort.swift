import Glibc

/// How often a test does again what it has done already.
///
/// All of it, unless `WEBIMAGE_TEST_PART` says how small a part: `Scripts/test` does so under sanitizers, where everything takes several times
/// as long, for tests that it runs whole as well.
public enum TestEffort {
    private static let part = max(getenv("WEBIMAGE_TEST_PART").flatMap { Int(String(cString: $0)) } ?? 1, 1)

    /// So many rounds, or a part of them, but one at least.
    public static func rounds(_ count: Int) -> Int { max(count / part, min(count, 1)) }

    /// All of them, or the first of each few.
    public static func some<Elements: Sequence>(of elements: Elements) -> [Elements.Element] {
        elements.enumerated().filter { $0.offset % part == 0 }.map(\.element)
    }
}
