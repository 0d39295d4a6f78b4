import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// All hooks at once, called on several threads while callers join and cancel.
@Suite(.tags(.threadSanitizer)) struct HookStressTests {
    private final class Owned: Sendable {}

    private static func context(_ number: Int, owning object: Owned) -> WebImageContext {
        .with { context in
            if number.isMultiple(of: 2) {
                context.downloadRequestModifier = DownloadRequestModifier { [object] request in
                    withExtendedLifetime(object) { number.isMultiple(of: 10) ? nil : request }
                }
            } else if number.isMultiple(of: 3) {
                context.downloadRequestModifier = DownloadRequestModifier(asynchronously: { [object] request in
                    await Task.yield()
                    return withExtendedLifetime(object) { request }
                })
            }
            if number.isMultiple(of: 5) { context.downloadResponseModifier = DownloadResponseModifier(statusCode: 200) }
            if number.isMultiple(of: 7) { context.downloadDecryptor = DownloadDecryptor { data, _ in data + [0] } }
            context.redirectHandler = DownloadRedirectHandler { [object] _, next in
                withExtendedLifetime(object) { number.isMultiple(of: 11) ? .stop : .follow(next) }
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `With all hooks and cancellation from other threads every download ends once and retains nothing`()
        async throws
    {
        let server = try LoopbackServer { request in
            request.path.hasSuffix("3") ? .redirect(to: "/there") : .response(body: Array(request.path.utf8))
        }
        weak var owned: Owned?
        let downloader = WebImageDownloader()
        try await run(downloader, server) { owned = $0 }
        // Hooks of cancelled downloads are released when the transports have released them.
        downloader.invalidate(cancelling: true)
        for _ in 0..<2_000 where owned != nil { await pause() }
        #expect(owned == nil)
        #expect(downloader.currentDownloadCount == 0)
    }

    private func run(_ downloader: WebImageDownloader, _ server: LoopbackServer, _ note: (Owned) -> Void) async throws {
        let object = Owned()
        note(object)
        let recorders = (0..<400).map { _ in Recorder() }
        let urls = (0..<400).map { server.url("/\($0)") }
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    for number in stride(from: lane, to: 400, by: 4) {
                        let context = Self.context(number, owning: object)
                        let token = downloader.start(urls[number], recorders[number], context: context)
                        if number % 9 == 4 { token.cancel() }
                        if number % 13 == 5 { startThread { token.cancel() } }
                        if number % 50 == 1 {
                            downloader.responseModifier = DownloadResponseModifier(headers: ["X": "1"])
                        }
                    }
                }
            }
        }
        for recorder in recorders { await recorder.end() }
        for (number, recorder) in recorders.enumerated() {
            #expect(recorder.results.count == 1 && recorder.progressAfterEnd == 0)
            guard number % 9 != 4, number % 13 != 5 else { continue }
            if number.isMultiple(of: 10) {
                #expect(recorder.code == .invalidDownloadOperation)
            } else if number % 10 != 3 {
                let plain = Data("/\(number)".utf8)
                #expect(recorder.data == (number.isMultiple(of: 7) ? plain + [0] : plain))
            } else if number.isMultiple(of: 11), !number.isMultiple(of: 5) {
                #expect(recorder.error?.statusCode == 302)
            }
        }
    }

    /// Lets other threads go on.
    private func pause() async {
        await withCheckedContinuation { continuation in
            startThread {
                _ = Monitor(()).wait(seconds: 0.005) { _ -> Bool? in nil }
                continuation.resume()
            }
        }
    }
}
