import FoundationEssentials

@testable import WebImageLoading

extension FetchWork {
    /// The work of getting bytes from a loader, without a plan around it.
    init(url: URL, loader: any ImageLoading, options: WebImageOptions, headers: HTTPHeaders = [:]) {
        let request = ImageLoadRequest(url: url, options: options, additionalHeaders: headers)
        self.init(plan: Boxed(LoadPlan.Fetch(request, by: loader)))
    }
}
