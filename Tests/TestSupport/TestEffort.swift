import Glibc

/// The number of times that a test repeats its work.
///
/// Fully, unless `WEBIMAGE_TEST_PART` gives a fraction: `Scripts/test` sets it under sanitizers, where everything takes several
/// times as long, and runs files with this word also without one, fully. `Scripts/check` sets it, to be quick.
public enum TestEffort {
    private static let part = max(getenv("WEBIMAGE_TEST_PART").flatMap { Int(String(cString: $0)) } ?? 1, 1)

    /// This many rounds, or a fraction of them, but at least one.
    public static func rounds(_ count: Int) -> Int { max(count / part, min(count, 1)) }

    /// All of them, or the first of each few.
    public static func some<Elements: Sequence>(of elements: Elements) -> [Elements.Element] {
        elements.enumerated().filter { $0.offset % part == 0 }.map(\.element)
    }
}
