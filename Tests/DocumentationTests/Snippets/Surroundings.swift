import FoundationEssentials
import WebImage

// Declarations used by the code of the articles, which a reader's program would have. Only compiled.

func show(_ image: Image) {}
func show(_ image: Image, _ source: ImageCacheType) {}
func show(_ error: WebImageError) {}
func show(_ fraction: Double) {}
func show(_ bitmap: Bitmap) {}
func draw(_ bytes: UnsafeRawBufferPointer, width: Int, height: Int, bytesPerRow: Int) {}
func isOnMeteredLine() -> Bool { false }
func mirror(of url: URL) -> URL { url }

/// Something that has images.
struct Database: Sendable {
    func image(of name: String) async throws -> Data { Data(name.utf8) }
    func parts(of url: URL) -> AsyncStream<Data> { AsyncStream { $0.finish() } }
}

/// Something that has tokens.
struct Session: Sendable {
    func token(for url: URL) async -> String { "token of \(url)" }
}

/// Something that encrypts, though badly.
struct Vault: Sendable {
    func seal(_ data: Data) -> Data { Data(data.map { $0 ^ 0x5A }) }
    func open(_ data: Data) -> Data? { seal(data) }
}

let database = Database()
let session = Session()
let vault = Vault()
