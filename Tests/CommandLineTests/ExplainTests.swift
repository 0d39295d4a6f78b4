import FoundationEssentials
import TestSupport
import Testing

@Suite struct ExplainTests {
    let harness = CommandLineHarness()

    @Test func `An image from the network and then from the cache is explained under its line`() async throws {
        let body = try fixtureBytes("JPEG/baseline-420.jpg")
        let server = try LoopbackServer { _ in .response(headers: [("Content-Type", "image/jpeg")], body: body) }
        let words = ["get", server.url("/photo.jpg").absoluteString, "--explain", "--cache-dir", harness.cache]
        let first = try await harness.run(words)
        #expect(first.status == 0 && first.errors.isEmpty && first.lines.count == 2)
        #expect(first.lines[0].hasPrefix("photo.jpg") && first.lines[0].hasSuffix("(network)"))
        let told = first.lines[1]
        #expect(told.hasPrefix("  photo.jpg: Not in memory, not on disk, so it was downloaded from 127.0.0.1:"))
        #expect(told.contains("first byte after") && told.contains("HTTP 1.1") && told.contains("Decoded to 61×45 in"))
        #expect(told.contains("Stored on disk.") && told.contains("Delivered after"))

        let second = try await harness.run(words)
        #expect(second.lines.count == 2 && second.lines[0].hasSuffix("(disk)"))
        #expect(second.lines[1].hasPrefix("  photo.jpg: Not in memory, but on disk ("))
        #expect(!second.lines[1].contains("downloaded") && !second.lines[1].contains("Stored"))
        #expect(server.requestCount() == 1)
    }

    @Test func `A failure is explained, too, without passwords`() async throws {
        let server = try LoopbackServer { _ in .response(404) }
        let url = server.url("/missing.jpg").absoluteString.replacing("http://", with: "http://me:secret@")
        let run = try await harness.run("get", url, "--explain", "--cache-dir", harness.cache)
        #expect(run.status == 1 && run.errors.contains("404"))
        #expect(run.lines.count == 1)
        #expect(run.output.contains("was asked: status 404 after") && run.output.contains("(code 2001)."))
        #expect(!run.output.contains("secret"))
    }

    @Test func `JSON has the explanation as a field, for successes and failures`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { $0.path == "/a.jpg" ? .response(body: body) : .response(500) }
        let urls = ["/a.jpg", "/b.jpg"].map { server.url($0).absoluteString }
        let run = try await harness.run(["get"] + urls + ["--explain", "--json", "--no-cache"])
        let objects = try CommandLineHarness.objects(run)
        #expect(objects.count == 2 && run.errors.isEmpty)
        let (good, bad) = (objects.first { $0.error == nil }, objects.first { $0.error != nil })
        #expect(good?.explanation?.hasPrefix("a.jpg: The caches were not queried, so it was downloaded") ?? false)
        #expect(good?.explanation?.contains("Stored") == false)
        #expect(bad?.explanation?.hasPrefix("b.jpg: ") ?? false && bad?.explanation?.contains("status 500") ?? false)
        let plain = try CommandLineHarness.objects(await harness.run(["get"] + urls + ["--json", "--no-cache"]))
        #expect(plain.allSatisfy { $0.explanation == nil }, "without the option there is no field")
    }

    @Test func `With the image on standard output the explanation is on standard error`() async throws {
        let run = try await harness.run("get", Fixtures.path("JPEG/gray.jpg"), "-o", "-", "-f", "png", "--explain")
        #expect(run.status == 0 && run.output.dropFirst().hasPrefix("PNG") && !run.output.contains("Delivered"))
        #expect(run.errors.contains("gray.jpg: ") && run.errors.contains("read from the file"))
    }

    @Test func `The explanation is printed in quiet mode, without control characters of names`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { _ in .response(body: body) }
        let url = server.url("/a%1B%5B31m.jpg").absoluteString
        let run = try await harness.run("get", url, "-o", "a.png", "--quiet", "--explain", "--no-cache")
        #expect(run.status == 0 && run.lines.count == 1 && run.lines[0].contains("Delivered"))
        #expect(!run.output.contains("\u{1B}"))
        #expect(try await harness.run("get", "--help").output.contains("--explain"))
    }

    @Test func `A source that joins another's download says so or was found in the cache`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { _ in .response(body: body) }
        let url = server.url("/a.jpg").absoluteString
        let run = try await harness.run("get", url, url, url, "--explain", "--json", "--cache-dir", harness.cache)
        let told = try CommandLineHarness.objects(run).compactMap(\.explanation)
        #expect(told.count == 3 && server.requestCount() == 1)
        #expect(
            told.allSatisfy {
                $0.contains("Joined another load") || $0.contains("on disk (") || $0.contains("downloaded")
            }
        )
    }
}
