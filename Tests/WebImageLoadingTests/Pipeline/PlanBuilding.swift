import FoundationEssentials

@testable import WebImageLoading

extension FetchWork {
    /// Fetch work without a surrounding plan.
    init(url: URL, loader: any ImageLoading, options: WebImageOptions, headers: HTTPHeaders = [:]) {
        let request = ImageLoadRequest(url: url, options: options, additionalHeaders: headers)
        self.init(plan: Boxed(LoadPlan.Fetch(request, by: loader)))
    }
}
