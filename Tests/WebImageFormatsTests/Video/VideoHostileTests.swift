import FoundationEssentials
import TestSupport
import Testing
import WebImage

/// Videos that are damaged, or meant to cost time, memory or secrets.
@Suite(
    .enabled(
        if: DecoderProgram.isSupported,
        "this system does not confine processes, or this is a sanitized build"
    ),
    .timeLimit(.minutes(10))
)
struct VideoHostileTests {
    /// Decodes, and returns what must not happen: nil for an image within the limits and for an error about the file.
    private static func complaint(_ coder: IsolatedImageCoder, _ data: Data, at time: Double?) -> String? {
        guard coder.canDecode(data) else { return nil }
        var options = ImageDecodeOptions()
        options.limits.maximumPixelCount = 1 << 20
        options.videoTime = time
        let codes: [WebImageError.Code] = [.badImageData, .limitExceeded, .unsupportedFormat, .outOfMemory]
        do throws(WebImageError) {
            let image = try coder.decode(data, options: options)
            return image.pixelWidth * image.pixelHeight <= 1 << 20 ? nil : "\(image.pixelWidth)x\(image.pixelHeight)"
        } catch {
            return codes.contains(error.code) ? nil : "\(error)"
        }
    }

    @Test(arguments: VideoHarness.files)
    func `Damaged files are decoded or are errors, and no worker crashes or hangs`(file: String) async throws {
        let data = try Fixtures.data("Video/\(file)")
        let coder = VideoHarness.coder(seconds: 10)
        let complaints = await valueOnThread {
            (DamagedFiles.truncations(of: data) + DamagedFiles.corruptions(of: data)).enumerated().compactMap {
                Self.complaint(coder, $1, at: $0 % 2 == 0 ? nil : 1.1)
            }
        }
        #expect(complaints.isEmpty)
    }

    @Test func `A frame with more pixels than allowed is refused before it is decoded`() async throws {
        for file in ["h264.mp4", "vp9.webm", "av1.mp4", "mjpeg.mov"] {
            let error = await #expect(throws: WebImageError.self) {
                try await VideoHarness.file(file) { $0.limits.maximumPixelCount = 96 * 64 - 1 }
            }
            #expect(error?.code == .limitExceeded, "\(file) \(error as Any)")
        }
    }

    @Test func `A file without a video, or with an unknown codec, says so`() async throws {
        // A track of sound, and one of a codec that nobody knows.
        for (name, other) in [("vide", "soun"), ("hvc1", "zzzz")] {
            var data = try Fixtures.data("Video/hevc.mp4")
            let place = try #require(VideoHarness.range(of: name, in: data))
            data.replaceSubrange(place, with: Data(other.utf8))
            let error = await #expect(throws: WebImageError.self) {
                try await Image.decode(data, coder: VideoHarness.coder())
            }
            #expect(error?.code == .unsupportedFormat, "\(error as Any)")
        }
    }

    @Test func `Times near the largest number do not overflow`() async throws {
        let last = try await VideoHarness.file("fragmented.mp4", at: 1e300)
        var data = try Fixtures.data("Video/fragmented.mp4")
        // The time of the first frame, 64 bits after version and flags.
        let place = try #require(VideoHarness.range(of: "tfdt", in: data)).upperBound + 4
        data.replaceSubrange(place..<place + 8, with: [0x7F] + Array(repeating: 0, count: 7))
        var options = ImageDecodeOptions()
        options.videoTime = 1e300
        let image = try await Image.decode(data, options: options, coder: VideoHarness.coder())
        #expect(image.premultipliedPixels == last.premultipliedPixels)
    }

    @Test func `Tracks in other files are not read`() async throws {
        let directory = TemporaryDirectory()
        let secret = directory.path("h264.mp4")
        try Fixtures.data("Video/h264.mp4").write(to: URL(fileURLWithPath: secret))
        // The data reference of the track: its flag "in this file" is removed.
        var data = try Fixtures.data("Video/h264.mov")
        let reference = try #require(
            VideoHarness.range(of: "alis", in: data) ?? VideoHarness.range(of: "url ", in: data)
        )
        data[reference.upperBound + 3] = 0
        let outcome = await valueOnThread { [data] in Self.complaint(VideoHarness.coder(), data, at: nil) }
        #expect(outcome == nil)
        withExtendedLifetime(directory) {}
    }
}
