import FoundationEssentials
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

extension WebImageContext {
    /// A context with what `change` sets.
    static func with(_ change: (inout WebImageContext) -> Void) -> WebImageContext {
        var context = WebImageContext()
        change(&context)
        return context
    }
}

extension WebImageDownloader {
    /// Starts a download with a context.
    @discardableResult
    func start(_ url: URL, _ recorder: Recorder, context: WebImageContext) -> WebImageDownloadToken {
        start(
            ImageLoadRequest(url: url, context: context),
            progress: recorder.onProgress,
            completion: recorder.onEnd
        )
    }

    /// What a download with a context ends with.
    func end(_ url: URL, context: WebImageContext) async -> Recorder {
        let recorder = Recorder()
        start(url, recorder, context: context)
        await recorder.end()
        return recorder
    }
}
