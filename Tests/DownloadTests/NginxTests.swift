import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// The same downloads against a widely used server.
@Suite(.tags(.threadSanitizer), .enabled(if: NginxServer.isInstalled)) struct NginxTests {
    private static let drawing = Array("<svg>\(String(repeating: "<path d='M0 0'/>", count: 5000))</svg>".utf8)

    private static let image = pattern(40 << 10)
    private static let large = Array(repeating: pattern(1 << 20), count: 20).flatMap { $0 }

    private func server() async throws -> NginxServer {
        try await NginxServer(files: ["a.jpg": Self.image, "big.png": Self.large, "d.svg": Self.drawing])
    }

    private func trusting(_ server: NginxServer) -> WebImageDownloader {
        let downloader = WebImageDownloader()
        downloader.config.certificateAuthorityFile = server.certificate
        return downloader
    }

    @Test func `Connections are kept`() async throws {
        let server = try await server()
        let downloader = WebImageDownloader()
        for _ in 0..<10 {
            let loaded = try await downloader.downloadData(with: server.url("/a.jpg"))
            #expect(Array(loaded.data) == Self.image)
            #expect(loaded.response?.mimeType == "image/jpeg")
        }
        let connections = await server.log(count: 10).map { $0.split(separator: " ")[0] }
        #expect(connections.count == 10 && Set(connections).count == 1)
    }

    @Test func `TLS uses HTTP/2, with many downloads on one connection`() async throws {
        let server = try await server()
        let downloader = trusting(server)
        downloader.config.maxConcurrentDownloads = 32
        await withTaskGroup(of: LoadedImageData?.self) { group in
            for number in 0..<100 {
                group.addTask {
                    try? await downloader.downloadData(with: server.url("/a.jpg?\(number)", scheme: "https"))
                }
            }
            for await loaded in group {
                #expect(loaded.map { Array($0.data) } == Self.image)
                #expect(loaded?.metrics?.httpVersion == "2")
                #expect(loaded?.response?.httpVersion == "2")
            }
        }
        let log = await server.log(count: 100).map { $0.split(separator: " ") }
        #expect(Set(log.map { $0[0] }).count == 1)
        #expect(log.allSatisfy { $0[2] == "HTTP/2.0" })
    }

    @Test func `The metrics show the handshake`() async throws {
        let server = try await server()
        let downloader = trusting(server)
        let first = try await downloader.downloadData(with: server.url("/a.jpg", scheme: "https")).metrics
        let second = try await downloader.downloadData(with: server.url("/a.jpg?2", scheme: "https")).metrics
        #expect((first?.secureConnect ?? 0) > (first?.connect ?? 1))
        #expect(first?.isReusedConnection == false && second?.isReusedConnection == true)
        #expect(second?.secureConnect == 0)
    }

    @Test func `An untrusted certificate is refused, unless the caller allows it`() async throws {
        let server = try await server()
        let downloader = WebImageDownloader()
        let url = server.url("/a.jpg", scheme: "https")
        let error = await downloadError(downloader, url)
        #expect(error?.code == .secureConnectionFailed)
        #expect(error.map { downloader.shouldBlockFailedURL(url, error: $0) } == true)
        let loaded = try await downloader.downloadData(with: url, options: .allowInvalidSSLCertificates)
        #expect(loaded.data.count == 40 << 10)
        // The careful caller does not reuse the careless caller's connection.
        #expect(await downloadError(downloader, url)?.code == .secureConnectionFailed)
    }

    @Test func `A certificate for another host is refused`() async throws {
        let server = try await server()
        let downloader = trusting(server)
        let text = server.url("/a.jpg", scheme: "https").absoluteString.replacing("127.0.0.1", with: "127.0.0.2")
        let error = await downloadError(downloader, URL(string: text) ?? testURL("/"))
        #expect(error?.code == .cannotConnectToHost || error?.code == .secureConnectionFailed)
        let named = server.url("/a.jpg", scheme: "https").absoluteString.replacing("127.0.0.1", with: "localhost")
        #expect(await downloadError(downloader, URL(string: named) ?? testURL("/")) == nil)
    }

    @Test func `A compressed body is decompressed`() async throws {
        let server = try await server()
        let loaded = try await WebImageDownloader().downloadData(with: server.url("/d.svg"))
        #expect(Array(loaded.data) == Self.drawing)
        #expect(loaded.response?.headers["Content-Encoding"] == "gzip")
        let received = try #require(loaded.metrics?.receivedByteCount)
        #expect(received > 0 && received < Self.drawing.count / 10)
    }

    @Test func `A large file arrives whole, over both protocols`() async throws {
        let server = try await server()
        let downloader = trusting(server)
        for scheme in ["http", "https"] {
            let loaded = try await downloader.downloadData(with: server.url("/big.png", scheme: scheme))
            #expect(Array(loaded.data) == Self.large)
        }
    }

    @Test func `Redirects lead to https, but not back`() async throws {
        let server = try await server()
        let downloader = trusting(server)
        #expect(try await downloader.downloadData(with: server.url("/moved")).data.count == 40 << 10)
        let secure = try await downloader.downloadData(with: server.url("/to-https"))
        #expect(secure.response?.url == server.url("/a.jpg", scheme: "https"))
        let back = server.url("/to-http", scheme: "https")
        #expect(await downloadError(downloader, back)?.code == .badRedirect)
        #expect(await server.log(count: 4).filter { $0.hasSuffix("/a.jpg 200") }.count == 2)
        downloader.config.allowsInsecureRedirects = true
        #expect(try await downloader.downloadData(with: back).data.count == 40 << 10)
    }

    @Test func `A missing file over HTTP/2 is its status, and the connection stays open`() async throws {
        let server = try await server()
        let downloader = trusting(server)
        for number in 0..<3 {
            let missing = server.url("/missing\(number)", scheme: "https")
            #expect(await downloadError(downloader, missing)?.statusCode == 404)
            #expect(await downloadError(downloader, server.url("/a.jpg", scheme: "https")) == nil)
        }
        #expect(Set(await server.log(count: 6).map { $0.split(separator: " ")[0] }).count == 1)
    }
}
