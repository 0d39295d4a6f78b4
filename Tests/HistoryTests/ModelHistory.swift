import TestSupport
import WebImage

/// A setup and its operations: the history of a seed.
struct ModelHistory: Sendable {
    let seed: UInt64
    let setup: ModelSetup
    var steps: [ModelStep]

    /// The operations that histories are made of.
    enum Kinds: Sendable { case loadsAndCancels, all }

    init(seed: UInt64, kinds: Kinds = .all) {
        self.seed = seed
        var random = SeededGenerator(seed: seed)
        setup = ModelSetup(&random)
        // Bursts and pauses: histories in which everything waits, and others in which all is quick.
        let pace = 1 + random.below(8)
        var steps: [ModelStep] = []
        for _ in 0..<20 + random.below(61) {
            let operation = ModelOperation.random(&random, setup, kinds)
            steps.append(ModelStep(operation: operation, jobCount: random.below(pace), seed: random.next()))
        }
        self.steps = steps
    }

    /// The same without a few operations.
    func removing(_ range: Range<Int>) -> ModelHistory {
        var copy = self
        copy.steps.removeSubrange(range)
        return copy
    }

    /// Returns the shortest history found that still fails: leaves out ever smaller parts.
    func shrunk(_ fails: (ModelHistory) -> Bool) -> ModelHistory {
        var best = self
        var size = max(best.steps.count / 2, 1)
        while true {
            var start = 0
            var isShorter = false
            while start < best.steps.count {
                let candidate = best.removing(start..<min(start + size, best.steps.count))
                if fails(candidate) {
                    best = candidate
                    isShorter = true
                } else {
                    start += size
                }
            }
            if size == 1, !isShorter { return best }
            size = max(size / 2, 1)
        }
    }
}

extension ModelOperation {
    static func random(
        _ random: inout SeededGenerator,
        _ setup: ModelSetup,
        _ kinds: ModelHistory.Kinds
    ) -> ModelOperation {
        let url = random.below(setup.urlCount)
        let draw = random.below(100)
        switch draw {
        case ..<42: return .load(load(url, &random))
        case ..<52: return .cancel(random.below(8))
        case ..<58: return .setPriority(random.below(8), priority(&random))
        case _ where kinds == .loadsAndCancels: return .load(load(url, &random))
        case ..<62: return .publish(url)
        case ..<65: return .trouble(url, Trouble.allCases[random.below(5) % Trouble.allCases.count])
        default: return rare(draw - 65, url, &random)
        }
    }

    private static func rare(_ draw: Int, _ url: Int, _ random: inout SeededGenerator) -> ModelOperation {
        let variant = variant(&random)
        switch draw {
        case ..<4: return .remove(url, variant, level(&random))
        case 4: return .removeAndWait(url, variant)
        case ..<7: return .clear(level(&random))
        case 7: return .cancelAll
        case 8: return .memoryWarning
        case 9:
            return .limits(
                cost: [0, 50, 120, 300][random.below(4)],
                count: [0, 1, 3][random.below(3)],
                disk: [0, 60, 200][random.below(3)]
            )
        case 10: return .trim
        case 11: return .passTime([1, 60, 150, 5_000][random.below(4)])
        case ..<14: return .store(url, variant, level(&random), withData: random.below(2) == 0)
        case 14: return .storeBytes(url, isBad: random.below(2) == 0, waits: random.below(2) == 0)
        case ..<17:
            let options: [WebImageOptions] = [[], .queryDiskDataSync, .queryMemoryData, .highPriority]
            return .query(url, variant, options[random.below(4)], cancels: random.below(5) == 0)
        case 17: return .contains(url, variant, level(&random))
        case ..<23: return prefetch(url, &random)
        case ..<25: return .cancelPrefetch(random.below(3))
        case 25: return .setPrefetchPriority(random.below(3), priority(&random))
        case 26: return .suspendPrefetch(random.below(3) == 0)
        case 27: return .prefetchWidth(1 + random.below(4))
        case 28: return .forgetFailed(random.below(3) == 0 ? nil : url)
        case 29: return .refuse(url, random.below(2) == 0)
        case ..<34: return .settle
        default: return .drain
        }
    }

    private static func prefetch(_ url: Int, _ random: inout SeededGenerator) -> ModelOperation {
        let urls = (0..<random.below(5)).map { (url + $0 * random.below(2)) % ModelKeys.urlCount }
        return .prefetch(urls, random.below(2) == 0 ? .memory : .disk, priority(&random))
    }

    private static func load(_ url: Int, _ random: inout SeededGenerator) -> Load {
        var load = Load(url: url, variant: variant(&random), options: [])
        let options: [(WebImageOptions, oneIn: Int)] = [
            (.retryFailed, 4), (.fromCacheOnly, 10), (.fromLoaderOnly, 10), (.queryDiskDataSync, 10),
            (.waitStoreCache, 5), (.lowPriority, 6), (.highPriority, 6), (.refreshCached, 6),
            (.scaleDownLargeImages, 8), (.queryMemoryData, 10), (.queryMemoryDataSync, 20),
        ]
        for (option, chance) in options where random.below(chance) == 0 { load.options.insert(option) }
        load.isLimited = random.below(8) == 0
        load.isDropped = random.below(4) == 0
        load.hearsProgress = random.below(3) == 0
        guard random.below(4) == 0 else { return load }
        load.query = type(&random)
        load.store = type(&random)
        load.originalQuery = type(&random)
        load.originalStore = type(&random)
        return load
    }

    private static func variant(_ random: inout SeededGenerator) -> ModelVariant {
        random.below(3) == 0 ? ModelVariant(number: random.below(ModelVariant.count)) : .original
    }

    private static func type(_ random: inout SeededGenerator) -> ImageCacheType? {
        random.below(2) == 0 ? nil : [ImageCacheType.none, .memory, .disk, .all][random.below(4)]
    }

    private static func level(_ random: inout SeededGenerator) -> ImageCacheType {
        random.below(3) == 0 ? (random.below(2) == 0 ? .memory : .disk) : .all
    }

    private static func priority(_ random: inout SeededGenerator) -> LoadPriority {
        LoadPriority.allCases[random.below(LoadPriority.allCases.count)]
    }
}
