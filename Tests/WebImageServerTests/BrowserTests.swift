import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// A page in Chromium whose images the server makes.
@Suite(.enabled(if: Browser.path != nil, "Chromium is not installed"), .timeLimit(.minutes(3)))
struct BrowserTests {
    /// `<img srcset>` on top, `<picture>` below, each 200 by 150 pixels.
    private static func page(_ url: (_ options: String) -> String) -> String {
        """
        <!doctype html>
        <style>body { margin: 0; background: #fff } img { display: block; width: 200px; height: 150px }</style>
        <img src="\(url("rs:fit:200"))" srcset="\(url("rs:fit:200")) 200w, \(url("rs:fit:400")) 400w" sizes="200px">
        <picture>
        <source type="image/webp" srcset="\(url("rs:fill:200:150/f:webp"))"><img src="\(url("rs:fill:200:150/f:png"))">
        </picture>
        """
    }

    /// The mean of red, green and blue over a rectangle, in levels.
    private func mean(_ image: Image, x: Range<Int>, y: Range<Int>) -> [Int] {
        var sums = [0, 0, 0]
        for row in y {
            for column in x {
                for (index, level) in image.bitmap.premultipliedRGBA(x: column, y: row).prefix(3).enumerated() {
                    sums[index] += Int(level)
                }
            }
        }
        return sums.map { $0 / (x.count * y.count) }
    }

    @Test func `A page shows images in the browser's format, and others get JPEG`() async throws {
        let browser = try #require(Browser.path)
        let jpeg = try Array(Fixtures.data("Options/photo.jpg"))
        let directory = TemporaryDirectory()
        let log = directory.path("log")
        let origin = try LoopbackServer { _ in
            .response(headers: [("Cache-Control", "max-age=600")], body: jpeg)
        }
        // The program, which has the coders of all formats. Its log goes to a file.
        let process = try HelperProcess(
            path: "/bin/sh",
            [
                "-c", "exec \"$@\" 2>&1 >\"$0\"", log, ProgramRun.product("webimage-server"), "--listen", "127.0.0.1:0",
                "--insecure", "--log", "--allow", "127.0.0.1:\(origin.port)", "--cache-dir", directory.path("cache"),
            ]
        )
        let line = await process.readLine() ?? ""
        let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) }, "\(line)")
        let path = { (options: String) in
            "/_/\(options)/el:1/plain/\(origin.url("/photo.jpg").absoluteString)"
        }
        let file = directory.path("page.html")
        let page = Self.page { "http://127.0.0.1:\(port)\(path($0))" }
        try Data(page.utf8).write(to: URL(fileURLWithPath: file))
        // A program that looks at the page keeps what was seen.
        let kept = getenv("WEBIMAGE_BROWSER_SCREENSHOT").map { String(cString: $0) }
        let screenshot = kept ?? directory.path("page.png")
        let run = try await ProgramRun.run(
            browser,
            [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1",
                "--user-data-dir=\(directory.path("profile"))", "--window-size=400,500", "--virtual-time-budget=30000",
                "--screenshot=\(screenshot)", "file://\(file)",
            ]
        )
        let seen = try await Image.decode(Data(contentsOf: URL(fileURLWithPath: screenshot)))
        let source = try await Image.decode(Data(jpeg))
        let expected = mean(source, x: 0..<source.pixelWidth, y: 0..<source.pixelHeight)
        for top in [0, 150] {
            let shown = mean(seen, x: 0..<200, y: top..<(top + 150))
            #expect(zip(shown, expected).allSatisfy { abs($0 - $1) <= 4 }, "\(shown) for \(expected)\n\(run.errors)")
        }
        #expect(mean(seen, x: 210..<300, y: 0..<300) == [255, 255, 255])

        // What the browser got: the log has its requests, and the bytes are those of AVIF.
        let avif = await RawAnswer.get(port, path("rs:fit:200"), [("Accept", "image/avif,image/webp,*/*;q=0.8")])
        #expect(avif.headers["Content-Type"] == "image/avif")
        let plain = await RawAnswer.get(port, path("rs:fit:200"), [("Accept", "*/*")])
        #expect(plain.headers["Content-Type"] == "image/jpeg")
        process.send(SIGTERM)
        #expect(await process.wait() == 0)
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
            .filter { $0.contains("Chrome/") }
        let sent = "\"status\":200,\"bytes\":\(avif.body.count),"
        #expect(lines.contains { $0.contains("rs:fit:200/") && $0.contains(sent) })
        #expect(lines.contains { $0.contains("f:webp") && $0.contains("\"status\":200") })
        #expect(!lines.contains { $0.contains("f:png") || $0.contains("rs:fit:400") })
    }
}

/// The installed browser.
private enum Browser {
    static let path = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
}
