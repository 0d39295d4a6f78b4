package import FoundationEssentials
import TestSupport

package func testURL(_ path: String) -> URL { URL(string: "http://example.test\(path)") ?? URL(filePath: "/") }

/// Bytes that differ along the way.
package func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

/// Bytes without a pattern that could hide a wrong offset.
package func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
}

/// The bytes of a small image.
package func smallImageData() throws -> [UInt8] { [UInt8](try Fixtures.data("JPEG/gray.jpg")) }
