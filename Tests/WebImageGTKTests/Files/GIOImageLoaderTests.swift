import CWebImageGTK4
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Files that GIO reads: resources, and files of the machine in place of those of shares.
@Suite struct GIOImageLoaderTests {
    private let directory = TemporaryDirectory()
    private let loader = GIOImageLoader.shared

    private func load(
        _ path: String,
        _ loader: GIOImageLoader = .shared,
        progress: @escaping @Sendable (LoadProgress, any ImageLoaderOperation) -> Void = { _, _ in }
    ) async throws -> Result<Data, WebImageError> {
        let outcome = Monitor<Result<Data, WebImageError>?>(nil)
        let count = Lock(0)
        let running = Lock<(any ImageLoaderOperation)?>(nil)
        // Progress waits until the operation is known.
        running.withLock { operation in
            operation = loader.load(ImageLoadRequest(url: URL(filePath: path))) { report in
                if let operation = running.withLock({ $0 }) { progress(report, operation) }
            } completion: { result in
                count.withLock { $0 += 1 }
                outcome.withLock { $0 = result.map(\.data) }
            }
        }
        let result = try #require(await outcome.value { $0 })
        #expect(count.withLock { $0 } == 1)
        return result
    }

    @Test func `Resources of a program are loaded by a manager, and other URLs are left to other loaders`() async throws
    {
        try Fixtures.data("PNG/photo-rgb.png").write(to: URL(filePath: directory.path("photo.png")))
        let list = """
            <gresources><gresource prefix="/org/example/webimage"><file>photo.png</file></gresource></gresources>
            """
        try Data(list.utf8).write(to: URL(filePath: directory.path("list.xml")))
        let compiled = directory.path("list.gresource")
        let run = try await ProgramRun.run(
            "/usr/bin/glib-compile-resources",
            ["--target", compiled, "--sourcedir", directory.path(""), directory.path("list.xml")]
        )
        #expect(run.status == 0, "\(run.errors)")
        let resource = try #require(g_resource_load(compiled, nil))
        g_resources_register(resource)
        defer {
            g_resources_unregister(resource)
            g_resource_unref(resource)
        }
        let manager = WebImageManager(
            cache: ImageCache(directory: directory.path("cache")),
            loader: ImageLoadersManager(loaders: ImageLoadersManager.builtIn + [loader])
        )
        let url = try #require(URL(string: "resource:///org/example/webimage/photo.png"))
        let image = try await manager.image(with: url)
        let expected = try await Image.decode(try Fixtures.data("PNG/photo-rgb.png"))
        #expect(image.bitmap.pixels == expected.bitmap.pixels)
        let none = try #require(URL(string: "resource:///org/example/webimage/none.png"))
        let error = await #expect(throws: WebImageError.self) { try await manager.image(with: none) }
        #expect(error?.url == none && [.fileAccessFailed, .fileNotFound].contains(error?.code))
        for text in ["http://h/a.png", "HTTPS://h/a.png", "file:///a.png", "data:image/png;base64,AA", "nobody:/a.png"]
        {
            #expect(try !loader.canLoad(#require(URL(string: text)), options: []), "\(text)")
        }
    }

    @Test func `A file is read with progress up to its size`() async throws {
        let bytes = Data(noise(700_000))
        try bytes.write(to: URL(filePath: directory.path("file")))
        let reports = Lock<[LoadProgress]>([])
        let data = try await load(directory.path("file")) { report, _ in reports.withLock { $0.append(report) } }.get()
        #expect(data == bytes)
        let counts = reports.withLock { $0 }.map(\.receivedByteCount)
        #expect(counts.count > 2 && counts == counts.sorted() && counts.last == 700_000)
        #expect(reports.withLock { $0 }.allSatisfy { $0.expectedByteCount == 700_000 })
    }

    @Test func `What is no file, missing, empty or too big is an error with the URL`() async throws {
        let (empty, pipe) = (directory.path("empty"), directory.path("pipe"))
        try Data().write(to: URL(filePath: empty))
        #expect(mkfifo(pipe, 0o600) == 0)
        let cases: [(String, WebImageError.Code)] = [
            (directory.path("none"), .fileNotFound), (directory.path(""), .fileAccessFailed),
            (pipe, .fileAccessFailed), (empty, .badImageData), (directory.path("big"), .limitExceeded),
        ]
        try Data(count: 1001).write(to: URL(filePath: directory.path("big")))
        let loader = GIOImageLoader(maximumFileByteCount: 1000)
        for (path, code) in cases {
            let outcome = try await load(path, loader)
            guard case .failure(let error) = outcome else {
                Issue.record("\(path) is loaded")
                continue
            }
            #expect(error.code == code && error.url == URL(filePath: path), "\(path): \(error)")
        }
        // Of unknown size, so the limit ends it while it is read.
        guard case .failure(let error) = try await load("/proc/self/maps", GIOImageLoader(maximumFileByteCount: 10))
        else {
            Issue.record("/proc/self/maps is loaded")
            return
        }
        #expect(error.code == .limitExceeded)
    }

    @Test func `A cancel ends the load at once, and reading at the next part`() async throws {
        try Data(noise(4 << 20)).write(to: URL(filePath: directory.path("file")))
        let reports = Lock(0)
        let outcome = try await load(directory.path("file")) { _, operation in
            reports.withLock { $0 += 1 }
            operation.cancel()
            #expect(operation.isCancelled)
        }
        guard case .failure(let error) = outcome else {
            Issue.record("the cancelled load has delivered")
            return
        }
        #expect(error.code == .cancelled && error.url == URL(filePath: directory.path("file")))
        #expect(reports.withLock { $0 } == 1)
    }
}
