import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

@Suite(.tags(.addressSanitizer)) struct LocalFilesTests {
    @Test func `Files below the directory are served, and nothing outside of it`() async throws {
        let (directory, cache) = (TemporaryDirectory(), TemporaryDirectory())
        let root = directory.path("root")
        mkdir(root, 0o755)
        mkdir(root + "/a b", 0o755)
        let jpeg = try Fixtures.data("Options/photo.jpg")
        try jpeg.write(to: URL(filePath: root + "/a b/photo.jpg"))
        try jpeg.write(to: URL(filePath: directory.path("secret.jpg")))
        symlink("../secret.jpg", root + "/out.jpg")
        symlink(directory.path("secret.jpg"), root + "/absolute.jpg")
        symlink("a b/photo.jpg", root + "/inside.jpg")
        mkfifo(root + "/pipe.jpg", 0o644)
        var configuration = ImageServerConfiguration(grammar: LocalGrammar())
        configuration.address = .tcp(host: "127.0.0.1", port: 0)
        configuration.cacheDirectory = cache.path
        configuration.rootDirectory = root
        configuration.allowsAnyVariant = true
        let server = try ImageServer(configuration)
        for path in ["/a%20b/photo.jpg", "/inside.jpg", "//a%20b/photo.jpg"] {
            #expect(await RawAnswer.get(server.port, path).status == 200, "\(path)")
        }
        let outside = [
            "/../secret.jpg", "/a%20b/../../secret.jpg", "/%2e%2e/secret.jpg", "/out.jpg", "/absolute.jpg", "/pipe.jpg",
            "/none.jpg", "/", "/a%20b", "/a%20b/photo.jpg%00.png", "/proc/self/environ",
        ]
        for path in outside {
            let answer = await RawAnswer.get(server.port, path)
            #expect([400, 404].contains(answer.status), "\(path)")
            #expect(!String(decoding: answer.body, as: UTF8.self).contains("root"))
        }
        await onThread { server.stop() }
    }

    /// The path is that of a local file.
    private struct LocalGrammar: URLGrammar {
        func request(
            forPath path: String,
            defaults: VariantOptions,
            now: Int64
        ) throws(ServerError) -> VariantRequest { VariantRequest(source: "local://\(path)", options: defaults) }
    }
}
