/// Settings for decoding images in worker processes.
///
/// A worker process is sandboxed before it receives the first byte of an image: no files, no network, no other processes, bounded
/// memory. A failure affects only that one image: a crash is ``WebImageError/Code/decoderCrashed``, a hang
/// ``WebImageError/Code/decodeTimedOut``, and too much memory ``WebImageError/Code/outOfMemory``. The pixels come back in sealed
/// shared memory that nobody can change any more, and are not copied.
///
/// Workers are started on demand, decode one image at a time, and exit after a time without work. Values that differ only in
/// ``formats`` and ``maximumDecodeDuration`` share workers, but never across policies: loads of managers with one ``SourcePolicy``
/// are not decoded by a worker that has seen images of another, and do not wait for those.
public struct DecodeIsolation: Sendable, Hashable {
    /// The formats that are decoded in workers, detected from the first bytes; nil, the default, for all formats.
    public var formats: Set<ImageFormat>?
    /// The maximum time in seconds for one decode, or one frame of an animation, before its worker is killed. 5 by default; less
    /// than 0.01, and NaN, count as 0.01.
    public var maximumDecodeDuration: Double = 5 {
        didSet { if maximumDecodeDuration.isNaN { maximumDecodeDuration = 0.01 } }
    }
    /// The maximum address space of a worker, in bytes, beyond what it starts with, whatever an image claims to need. 2 GiB by
    /// default. The limit for each image is lower: twice what the decode needs by its header, plus 128 MiB.
    public var maximumMemoryByteCount: Int = 2 << 30
    /// The maximum number of workers at a time; 0, the default, for the number of processors. SVG, PDF, videos and raw files each have
    /// a separate pool of the same size.
    public var maximumWorkerCount: Int = 0
    /// The number of decodes after which a worker is replaced, so that leaks in a library stay bounded. 500 by default; with 1 no
    /// two images are ever decoded in one process.
    public var maximumDecodeCount: Int = 500
    /// The time in seconds after which an idle worker exits. 10 by default; less than 0 becomes 0, and NaN becomes 10.
    public var idleTime: Double = 10 {
        // NaN is not equal to itself: workers would never be found again.
        didSet { idleTime = idleTime.isNaN ? 10 : max(idleTime, 0) }
    }
    /// The path of the worker program; nil, the default, to search for it as ``DecodeWorker`` describes.
    public var workerPath: String?
    /// The path of the worker program that draws PDF; nil, the default, to search for it as ``DecodeWorker`` describes.
    public var pdfWorkerPath: String?
    /// The path of the worker program that decodes videos; nil, the default, to search for it as ``DecodeWorker`` describes.
    public var videoWorkerPath: String?
    /// The source policy that these workers serve: each policy has separate workers. Empty for the program's own loads.
    package var domain = ""

    /// Isolates all formats, with the defaults.
    public init() {}

    /// Isolates some formats, with the defaults.
    public init(formats: Set<ImageFormat>) { self.formats = formats }

    /// Formats whose decoders are large, young, or rarely tested with hostile files: SVG, PDF, HEIC, HEIF, AVIF, JPEG XL, TIFF, the
    /// raw files of cameras and the ``ImageFormat/videos``.
    public static let riskyFormats = ImageFormat.videos.union([.svg, .pdf, .heic, .heif, .avif, .jpegXL, .tiff, .raw])

    /// Isolates ``riskyFormats``; other formats are decoded as without isolation.
    public static let risky = DecodeIsolation(formats: riskyFormats)
}
