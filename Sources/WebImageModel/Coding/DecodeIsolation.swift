/// How pictures are decoded in processes of their own.
///
/// A worker process has no files, no network, no other processes and a bounded memory before it sees the first byte of a picture. What
/// happens to it happens to that one picture: a crash is ``WebImageError/Code/decoderCrashed``, a hang
/// ``WebImageError/Code/decodeTimedOut``, and too much memory ``WebImageError/Code/outOfMemory``. Its pixels come back in shared memory that
/// nobody can change any more, and are not copied.
///
/// Workers are started when they are needed, used for one picture at a time, and end when nobody has needed them for a while. Values that
/// differ in nothing but ``formats`` and ``maximumDecodeDuration`` share workers, but never across policies: what managers with one
/// ``SourcePolicy`` load is not decoded by a worker that has seen images of another, and does not wait for those.
public struct DecodeIsolation: Sendable, Hashable {
    /// The formats that are decoded in workers, by what the first bytes say; nil, the default, for everything.
    public var formats: Set<ImageFormat>?
    /// Most seconds that one decode, or one frame of an animation, may take before its worker is ended. 5 by default; less than 0.01
    /// counts as that, and what is no number becomes it.
    public var maximumDecodeDuration: Double = 5 {
        didSet { if maximumDecodeDuration.isNaN { maximumDecodeDuration = 0.01 } }
    }
    /// Most bytes of address space that a worker may take beyond what it starts with, whatever a picture says it needs. 2 GiB by default.
    /// For each picture it is less: what its header says that the decode needs, twice, and 128 MiB.
    public var maximumMemoryByteCount: Int = 2 << 30
    /// Most workers at a time; 0, the default, for as many as there are processors. SVG has as many of its own.
    public var maximumWorkerCount: Int = 0
    /// Decodes after which a worker is replaced by a new one, so that nothing of a library grows for ever. 500 by default; with 1 no two
    /// pictures are ever decoded in one process.
    public var maximumDecodeCount: Int = 500
    /// Seconds after which a worker that nobody needs ends. 10 by default; less than 0 becomes 0, and what is no number 10.
    public var idleTime: Double = 10 {
        // What is no number is not equal to itself: workers would never be found again.
        didSet { idleTime = idleTime.isNaN ? 10 : max(idleTime, 0) }
    }
    /// The worker program; nil, the default, to look for it, as ``DecodeWorker`` tells.
    public var workerPath: String?
    /// The policy for whose loads it is: other policies have other workers. Empty for programs' own loads.
    package var domain = ""

    /// Everything in workers, with the defaults.
    public init() {}

    /// Some formats in workers, with the defaults.
    public init(formats: Set<ImageFormat>) { self.formats = formats }

    /// Formats whose decoders are big, young, or see few hostile files: SVG, HEIC, HEIF, AVIF, JPEG XL and TIFF.
    public static let riskyFormats: Set<ImageFormat> = [.svg, .heic, .heif, .avif, .jpegXL, .tiff]

    /// Those formats in workers, and the others as if nothing had been said.
    public static let risky = DecodeIsolation(formats: riskyFormats)
}
