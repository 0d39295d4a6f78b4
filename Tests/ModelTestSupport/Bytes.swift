package import FoundationEssentials
import TestSupport

package func testURL(_ path: String) -> URL { URL(string: "http://example.test\(path)") ?? URL(filePath: "/") }

/// Bytes that differ along the way.
package func pattern(_ count: Int) -> [UInt8] { bytes(count) { $0 &* 31 &+ $0 >> 8 } }

/// Bytes without a pattern that could hide a wrong offset.
package func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    return bytes(count) { _ in Int(truncatingIfNeeded: random.next()) }
}

/// In code that is not optimized, `map` of a range asks the runtime for types at each element, with a lock under the thread sanitizer.
private func bytes(_ count: Int, _ value: (Int) -> Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { bytes, initializedCount in
        while initializedCount < count {
            bytes[initializedCount] = UInt8(truncatingIfNeeded: value(initializedCount))
            initializedCount += 1
        }
    }
}

/// The bytes of a small image.
package func smallImageData() throws -> [UInt8] { [UInt8](try Fixtures.data("JPEG/gray.jpg")) }
