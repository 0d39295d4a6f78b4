extension HTTPCacheRule {
    /// The rule as a part of an English sentence, for people who ask why a picture was or was not loaded anew.
    var explanation: String {
        switch self {
        case .immutablePolicy: "the policy takes what is cached as it is"
        case .revalidatePolicy: "the policy asks the server each time"
        case .withinTimeToLive: "its time to live is not over"
        case .pastTimeToLive: "its time to live is over"
        case .nothingStored: "nothing is stored"
        case .noRecord: "nothing is known of the answer it came with"
        case .varies: "it was made for a request with other header fields"
        case .variesOnAll: "Vary says that it may be for one request only"
        case .onlyIfCached: "the request allows only what is cached, and nothing cached may serve"
        case .maxAge: "max-age says that it is fresh"
        case .expires: "Expires says that it is fresh"
        case .heuristic: "it has long not changed, so it counts as fresh"
        case .immutableResponse: "the server says that it never changes while it is fresh"
        case .requestMaxStale: "it is stale, and max-stale of the request allows that"
        case .noCache: "the server wants to be asked each time"
        case .requestNoCache: "the request wants the server to be asked"
        case .requestMaxAge: "it is older than max-age of the request allows"
        case .requestMinFresh: "it will not be fresh for as long as min-fresh of the request wants"
        case .mustRevalidate: "it is stale, and must-revalidate forbids to serve it unasked"
        case .expired: "it is stale"
        case .redirected: "the redirect that led to it has to be followed anew"
        case .staleWhileRevalidate: "it is stale, and stale-while-revalidate lets it serve while the server is asked"
        }
    }
}
