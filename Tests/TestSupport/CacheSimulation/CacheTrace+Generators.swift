import Glibc

extension CacheTrace {
    /// Every kind of trace that the memory cache is evaluated with.
    ///
    /// - Parameter scale: 1 for a hundred thousand items and a million requests; smaller for a quick look.
    public static func all(scale: Double, seed: UInt64 = 1) -> [CacheTrace] {
        [
            zipf(0.8, scale: scale, seed: seed), zipf(1.0, scale: scale, seed: seed),
            zipf(1.1, scale: scale, seed: seed),
            drift(scale: scale, seed: seed), feed(scale: scale, seed: seed), grid(scale: scale, seed: seed),
            scans(scale: scale, seed: seed),
        ]
    }

    private static func counts(_ scale: Double) -> (requests: Int, items: Int) {
        (max(Int(1_000_000 * scale), 1000), max(Int(100_000 * scale), 100))
    }

    /// Independent requests, item `k` with probability proportional to `k ^ -exponent`.
    public static func zipf(_ exponent: Double, scale: Double, seed: UInt64) -> CacheTrace {
        let (requestCount, itemCount) = counts(scale)
        var random = SeededGenerator(seed: seed)
        var trace = CacheTrace(name: "zipf-\(exponent)", requestCount: requestCount)
        trace.addItems(itemCount, median: 32768, &random)
        let popularity = ZipfDistribution(count: itemCount, exponent: exponent)
        for _ in 0..<requestCount { trace.request(popularity.sample(&random)) }
        return trace
    }

    /// Zipf whose ranks change: popular items are forgotten later.
    public static func drift(scale: Double, seed: UInt64) -> CacheTrace {
        let (requestCount, itemCount) = counts(scale)
        var random = SeededGenerator(seed: seed &+ 1)
        var trace = CacheTrace(name: "zipf-1.0-drift", requestCount: requestCount)
        trace.addItems(itemCount, median: 32768, &random)
        let popularity = ZipfDistribution(count: itemCount, exponent: 1)
        var itemOfRank = Array(0..<itemCount)
        for number in 0..<requestCount {
            if number % 120 == 0 {
                let rank = Int(exp(random.unit() * log(Double(itemCount)))) - 1
                itemOfRank.swapAt(min(rank, itemCount - 1), random.below(itemCount))
            }
            trace.request(itemOfRank[popularity.sample(&random)])
        }
        return trace
    }

    /// Scrolling through posts: an image and its author's avatar each time a post is shown, which happens several times
    /// while it is on screen and when the reader goes back, and now and then the big version.
    public static func feed(scale: Double, seed: UInt64) -> CacheTrace {
        let requestCount = counts(scale).requests
        var random = SeededGenerator(seed: seed &+ 2)
        var trace = CacheTrace(name: "feed-scroll", requestCount: requestCount)
        let authors = max(Int(3000 * scale), 50)
        trace.addItems(authors, median: 4096, &random)
        let popularity = ZipfDistribution(count: authors, exponent: 0.9)
        var posts: [(picture: Int, author: Int)] = []
        var top = 0
        while trace.requests.count < requestCount {
            while posts.count < top + 6 {
                let cost = logNormal(median: 65536, &random)
                posts.append((trace.addItem(cost: cost), popularity.sample(&random)))
            }
            for post in posts[top..<top + 6] {
                trace.request(post.author)
                trace.request(post.picture)
            }
            let chance = random.unit()
            if chance < 0.02 {
                trace.request(trace.addItem(cost: logNormal(median: 1_048_576, &random)))
            } else if chance < 0.04 {
                top = max(0, top - random.geometric(mean: 60))
            } else {
                top += random.geometric(mean: 2)
            }
        }
        return trace
    }

    /// Scrolling through a grid of equal images, back and forth.
    public static func grid(scale: Double, seed: UInt64) -> CacheTrace {
        let requestCount = counts(scale).requests
        var random = SeededGenerator(seed: seed &+ 3)
        var trace = CacheTrace(name: "grid-back-and-forth", requestCount: requestCount)
        let cells = max(Int(20_000 * scale), 500)
        for _ in 0..<cells { _ = trace.addItem(cost: 65536) }
        var position = cells / 2
        var forward = true
        while trace.requests.count < requestCount {
            let run = min(1 + random.below(cells * 32 / 100), forward ? cells - 1 - position : position)
            for step in 1...max(run, 1) {
                let cell = position + (forward ? step : -step)
                trace.request(min(max(cell, 0), cells - 1))
            }
            position = min(max(position + (forward ? run : -run), 0), cells - 1)
            forward.toggle()
        }
        return trace
    }

    /// A hot set, interrupted by passes over items that are seen once.
    public static func scans(scale: Double, seed: UInt64) -> CacheTrace {
        let (requestCount, itemCount) = counts(scale)
        var random = SeededGenerator(seed: seed &+ 4)
        var trace = CacheTrace(name: "hot-set-and-scans", requestCount: requestCount)
        let hot = max(itemCount * 2 / 5, 50)
        trace.addItems(hot, median: 32768, &random)
        let popularity = ZipfDistribution(count: hot, exponent: 0.9)
        while trace.requests.count < requestCount {
            for _ in 0..<random.geometric(mean: Double(itemCount) * 0.04) { trace.request(popularity.sample(&random)) }
            for _ in 0..<random.geometric(mean: Double(itemCount) * 0.02) {
                trace.request(trace.addItem(cost: logNormal(median: 32768, &random)))
            }
        }
        return trace
    }
}
