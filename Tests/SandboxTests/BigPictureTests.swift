import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

/// Pictures whose memory is mapped while a real worker decodes into it.
@Suite(
    .enabled(if: IsolationHarness.isSupported, "this system does not confine processes, or this is a sanitized build"),
    .timeLimit(.minutes(3))
)
struct BigPictureTests {
    private let coder = IsolationHarness.coder { $0.maximumWorkerCount = 1 }

    /// Whether each row begins with its number, and goes on with a value.
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
    func `A picture in the memory that was announced, or in another, comes whole`(name: String, value: UInt8)
        async throws
    {
        for _ in 0..<3 {
            let image = try await IsolationHarness.decode(name, coder).get()
            #expect(Self.isRight(image, value))
            #expect(image.bitmap.pixelFormat == (name == "big converted" ? .rgb8 : .bgra8Premultiplied))
        }
    }

    @Test func `What was announced for a picture that could not be decoded is of no picture`() async throws {
        for _ in 0..<3 {
            let error = await IsolationHarness.error("big refused", coder)
            #expect(error?.code == .badImageData && error?.message == "the rest is missing")
            #expect(Self.isRight(try await IsolationHarness.decode("big", coder).get(), 1))
        }
        #expect(IsolationHarness.isRight(try await IsolationHarness.decode("picture", coder).get()))
    }

    @Test func `Pictures live on when their worker has gone`() async throws {
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
