import FoundationEssentials

@testable import WebImage

extension FetchWork {
    /// The work of getting bytes from a loader, without a plan around it.
    init(url: URL, loader: any ImageLoading, options: WebImageOptions, headers: HTTPHeaders = [:]) {
        self.init(plan: Boxed(LoadPlan.Fetch(url: url, loader: loader, options: options, headers: headers)))
    }
}
