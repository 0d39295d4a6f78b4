package import FoundationEssentials
package import HTTPTestSupport
package import ModelTestSupport
import TestSupport
package import WebImageLoading

/// A downloader in virtual time, over a transport that the test drives.
package struct RetryHarness {
    package let transport = FakeTransport()
    package let delays = ManualClock()
    package let downloader: WebImageDownloader

    package init(
        _ policy: DownloadRetryPolicy = .exact,
        maxConcurrentDownloads: Int = 6,
        hostBackOff: HostBackOffPolicy = .never
    ) {
        var config = WebImageDownloaderConfig()
        config.retryPolicy = policy
        config.hostBackOff = hostBackOff
        config.maxConcurrentDownloads = maxConcurrentDownloads
        downloader = WebImageDownloader(
            core: DownloaderCore(
                config: config,
                transport: transport,
                clock: delays.source,
                delays: delays.delays,
                accept: WebImageDownloader.sharedAccept,
                random: { 0.5 }
            ),
            pipeline: .prompt
        )
    }

    package var starts: Int { transport.transfers.count }

    package func fail(_ number: Int, _ code: WebImageError.Code = .networkConnectionLost) {
        transport.transfers[number].end(WebImageError(code, "attempt \(number)"))
    }
}

extension WebImageDownloader {
    /// A downloader whose callers get progress at once, and share with no other test's.
    package convenience init(config: WebImageDownloaderConfig = .default, transport: FakeTransport) {
        self.init(core: DownloaderCore(config: config, transport: transport), pipeline: .prompt)
    }

    @discardableResult
    package func start(
        _ url: URL,
        _ recorder: Recorder,
        options: WebImageOptions = [],
        headers: HTTPHeaders = [:]
    ) -> WebImageDownloadToken {
        start(
            ImageLoadRequest(url: url, options: options, priority: options.priority, additionalHeaders: headers),
            progress: recorder.onProgress,
            completion: recorder.onEnd
        )
    }

    /// A downloader under a policy.
    package convenience init(
        _ policy: SourcePolicy,
        resolver: HostResolver? = nil,
        change: (inout WebImageDownloaderConfig) -> Void = { _ in }
    ) {
        var config = WebImageDownloaderConfig()
        config.sourcePolicy = policy
        change(&config)
        self.init(config: config, transport: CurlTransport(resolver: resolver))
    }

    /// Starts a download with a context.
    @discardableResult
    package func start(_ url: URL, _ recorder: Recorder, context: WebImageContext) -> WebImageDownloadToken {
        start(
            ImageLoadRequest(url: url, context: context),
            progress: recorder.onProgress,
            completion: recorder.onEnd
        )
    }

    /// Returns the result of a download with a context.
    package func end(_ url: URL, context: WebImageContext) async -> Recorder {
        let recorder = Recorder()
        start(url, recorder, context: context)
        await recorder.end()
        return recorder
    }
}

extension Pipeline {
    /// A pipeline that calls progress closures on the thread that reports progress.
    package static var prompt: Pipeline { Pipeline(progressQueue: .inline) }
}

/// Returns the error of a download; nil when it does not fail.
package func downloadError(
    _ downloader: WebImageDownloader,
    _ url: URL,
    options: WebImageOptions = []
) async -> WebImageError? {
    do throws(WebImageError) {
        _ = try await downloader.downloadData(with: url, options: options)
        return nil
    } catch {
        return error
    }
}
