import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

/// Images whose memory is mapped while a real worker decodes into it.
@Suite(
    .enabled(if: IsolationHarness.isSupported, "this system does not confine processes, or this is a sanitized build"),
    .timeLimit(.minutes(3))
)
struct BigImageTests {
    private let coder = IsolationHarness.coder { $0.maximumWorkerCount = 1 }

    /// Returns whether each row begins with its number, and continues with a value.
    private static func isRight(_ image: Image, _ value: UInt8) -> Bool {
        let row = 1000 * image.bitmap.pixelFormat.bytesPerPixel
        guard image.pixelWidth == 1000, image.pixelHeight == 1000 else { return false }
        let rest = [UInt8](repeating: value, count: row - 1)
        return image.bitmap.withUnsafeBytes { bytes in
            guard let first = bytes.baseAddress else { return false }
            return (0..<1000).allSatisfy { y in
                let start = y * image.bitmap.bytesPerRow
                return bytes[start] == UInt8(truncatingIfNeeded: y) && memcmp(first + start + 1, rest, row - 1) == 0
            }
        }
    }

    @Test(arguments: [("big", UInt8(1)), ("big converted", 2), ("big copied", 1)])
    func `An image in the announced memory, or in another, is complete`(name: String, value: UInt8)
        async throws
    {
        for _ in 0..<3 {
            let image = try await IsolationHarness.decode(name, coder).get()
            #expect(Self.isRight(image, value))
            #expect(image.bitmap.pixelFormat == (name == "big converted" ? .rgb8 : .bgra8Premultiplied))
        }
    }

    @Test func `Memory announced for an image that failed to decode is not used`() async throws {
        for _ in 0..<3 {
            let error = await IsolationHarness.error("big refused", coder)
            #expect(error?.code == .badImageData && error?.message == "the rest is missing")
            #expect(Self.isRight(try await IsolationHarness.decode("big", coder).get(), 1))
        }
        #expect(IsolationHarness.isRight(try await IsolationHarness.decode("picture", coder).get()))
    }

    @Test func `Images stay valid when their worker has ended`() async throws {
        let hazards = NamedHazards()
        let coder = IsolationHarness.coder {
            ($0.maximumWorkerCount, $0.maximumDecodeCount, $0.workerPath) = (1, 100, hazards.path)
        }
        let image = try await IsolationHarness.decode("big", coder).get()
        _ = await IsolationHarness.error("segfault", coder)
        _ = try await IsolationHarness.decode("big converted", coder).get()
        #expect(Self.isRight(image, 1))
    }
}
