import FoundationEssentials
import TestSupport
import WebImage
import WebImageVideo

/// Stills that the program decodes, in workers.
enum VideoHarness {
    static func coder(seconds: Double = 60) -> IsolatedImageCoder {
        var isolation = DecodeIsolation(formats: ImageFormat.videos)
        (isolation.videoWorkerPath, isolation.maximumDecodeDuration) = (DecoderProgram.videoPath, seconds)
        return IsolatedImageCoder(isolation, base: VideoCoder())
    }

    static func file(
        _ name: String,
        at seconds: Double? = nil,
        _ change: (inout ImageDecodeOptions) -> Void = { _ in }
    ) async throws -> Image {
        var options = ImageDecodeOptions()
        options.videoTime = seconds
        change(&options)
        return try await Image.decode(Fixtures.data("Video/\(name)"), options: options, coder: coder())
    }

    static func properties(_ data: Data) async throws(WebImageError) -> ImageProperties {
        try await ImageProperties.read(from: data, coder: coder())
    }

    /// Returns the place of a box's name.
    static func range(of name: String, in data: Data) -> Range<Int>? {
        let name = Array(name.utf8)
        return (0...max(data.count - name.count, 0)).first { data.dropFirst($0).starts(with: name) }.map {
            $0..<$0 + name.count
        }
    }

    /// The videos.
    static let files = ["mp4", "mov", "webm", "mkv"].flatMap { ending in
        Fixtures.names(in: "Video", ending: ending).map { "\($0).\(ending)" }
    }

    /// The stills that FFmpeg made: of which video, and of which time.
    static let stills = Fixtures.names(in: "Video", ending: "ppm").compactMap { name -> (file: String, time: String)? in
        guard let dash = name.lastIndex(of: "-") else { return nil }
        return (String(name[..<dash]), String(name[name.index(after: dash)...]))
    }

    /// A source that counts what is read of data, and may fail after some bytes.
    final class CountingSource: ImageByteSource {
        private let data: Data
        private let error: WebImageError?
        private let mostBytes: Int
        private let partByteCount: Int
        let count = Lock(0)

        init(
            _ data: Data,
            failing error: WebImageError? = nil,
            after mostBytes: Int = 0,
            partByteCount: Int = .max
        ) {
            (self.data, self.error) = (data, error)
            (self.mostBytes, self.partByteCount) = (mostBytes, partByteCount)
        }

        var byteCount: Int { data.count }
        var beginning: Data { data.prefix(4096) }

        func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(WebImageError) -> Int {
            if let error, count.withLock({ $0 >= mostBytes }) { throw error }
            let part = data.dropFirst(offset).prefix(min(buffer.count, partByteCount))
            buffer.copyBytes(from: part)
            count.withLock { $0 += part.count }
            return part.count
        }
    }
}
