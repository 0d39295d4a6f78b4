import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing

@testable import WebImageLoading
@testable import WebImageModel

/// Everything that affects a load's result is part of the value that work is shared by.
@Suite(.tags(.addressSanitizer)) struct LoadPlanTests {
    private let url = URL(string: "http://host.test/picture.png")!
    private let manager = WebImageManager(cache: FakeCache(), loader: FakeLoader(), pipeline: Pipeline())

    private func plan(_ options: WebImageOptions = [], _ change: (inout WebImageContext) -> Void = { _ in })
        -> Boxed<LoadPlan.Result>
    {
        var context = WebImageContext()
        change(&context)
        let load = manager.resolve(url, options, context)
        let key = manager.originalKey(for: url, load)
        return manager.plan(
            url: url,
            originalKey: key,
            resultKey: key.map { manager.resultKey(for: $0, load) },
            load,
            revalidation: manager.revalidation(url, load)
        ).result
    }

    private func labels(_ value: Any) -> Set<String> { Set(Mirror(reflecting: value).children.compactMap(\.label)) }

    // MARK: The context

    /// One change of each property that the plan depends on.
    private var changes: [String: (inout WebImageContext) -> Void] {
        [
            "imageCache": { $0.imageCache = FakeCache() },
            "originalImageCache": { $0.originalImageCache = FakeCache() },
            "imageLoader": { $0.imageLoader = FakeLoader() },
            "imageCoder": { $0.imageCoder = ImageCodersManager() },
            "imageTransformer": {
                $0.imageTransformer = .transformer(FlippingTransformer(horizontal: true, vertical: false))
            },
            "imageScaleFactor": { $0.imageScaleFactor = 3 },
            "thumbnailPixelSize": { $0.thumbnailPixelSize = ImageSize(width: 7, height: 7) },
            "preserveAspectRatio": { $0.preserveAspectRatio = false },
            "thumbnailCovers": { $0.thumbnailCovers = true },
            "scaleDownLimitBytes": { $0.scaleDownLimitBytes = 4096 },
            "queryCacheType": { $0.queryCacheType = ImageCacheType.none },
            "storeCacheType": { $0.storeCacheType = .memory },
            "originalQueryCacheType": {
                $0.thumbnailPixelSize = ImageSize(width: 7, height: 7)
                $0.originalQueryCacheType = .all
            },
            "originalStoreCacheType": { $0.originalStoreCacheType = ImageCacheType.none },
            "cacheKeyFilter": { $0.cacheKeyFilter = CacheKeyFilter { _ in "another" } },
            "decodeOptions": { $0.decodeOptions = ImageDecodeOptions(changing: \.refusesDamagedData, to: true) },
            "encodeOptions": { $0.encodeOptions = ImageEncodeOptions(changing: \.compressionQuality, to: 0.5) },
            "formatHint": { $0.formatHint = .format(.bmp) },
            "decodeToHDR": { $0.decodeToHDR = true },
            "page": { $0.page = 2 },
            "rawDevelopment": { $0.rawDevelopment = .full },
            "videoTime": { $0.videoTime = 2 },
            "decoding": { $0.decoding = .isolated },
            "loadValues": { $0.loadValues[Page.self] = 3 },
            "additionalHeaders": { $0.additionalHeaders["X-A"] = "b" },
            "cacheSerializer": { $0.cacheSerializer = CacheSerializer { _, _, _ in nil } },
            "cachePolicy": { $0.cachePolicy = .http },
            "hooks": { $0.downloadRequestModifier = DownloadRequestModifier { $0 } },
            "retryPolicy": { $0.retryPolicy = .never },
        ]
    }

    /// Properties that the plan does not depend on, with reasons.
    private let ignored = [
        "callbackQueue": "where a caller is called back",
        "setImageOperationKey": "which load of a view this is",
        "observer": "only whom to notify",
        "sizeReuse": "only if there is an image of another size in memory, or on disk, see SizeReuseTests",
        "own": "carried along only, see WebImageContextKey",
        "rare": "its properties are in the list",
    ]

    private enum Page: OptionKey { static let defaultValue = 0 }

    @Test func `Every property of a context is covered here`() {
        let all = labels(WebImageContext()).union(labels(WebImageContext.Rare.Values()))
        #expect(all == Set(changes.keys).union(ignored.keys))
        #expect(Set(changes.keys).isDisjoint(with: ignored.keys))
    }

    @Test func `Another context makes another plan`() {
        let thumbnail = plan { $0.thumbnailPixelSize = ImageSize(width: 7, height: 7) }
        for (name, change) in changes {
            let sizes = ["preserveAspectRatio", "thumbnailCovers"].contains(name)
            let base = name == "originalQueryCacheType" || sizes ? thumbnail : plan()
            let changed = plan {
                if sizes { $0.thumbnailPixelSize = ImageSize(width: 7, height: 7) }
                change(&$0)
            }
            #expect(changed != base, "\(name)")
        }
    }

    @Test func `Callback settings do not change the plan`() {
        #expect(plan() == plan { $0.callbackQueue = .inline })
        #expect(plan() == plan { $0.setImageOperationKey = "other" })
        #expect(plan() == plan { $0.observer = LoadRecording() })
    }

    // MARK: Options

    /// Options that the plan does not depend on, with reasons.
    private let ignoredOptions: [(WebImageOptions, String)] = [
        (.retryFailed, "whether there is a load at all"),
        (.lowPriority, "how urgent it is"),
        (.highPriority, "how urgent it is"),
        (.continueInBackground, "only its handling at the program's exit"),
        (.delayPlaceholder, "of views"),
        (.avoidAutoSetImage, "of views"),
        (.forceTransition, "of views"),
        (.waitTransition, "of views"),
        (.avoidAutoCancelImage, "of views"),
        (.queryMemoryDataSync, "on which thread the caches are asked"),
        (.queryDiskDataSync, "on which thread the caches are asked"),
        (.avoidDecodeImage, "images are always decoded"),
        (.waitStoreCache, "only when the end is reported"),
    ]

    @Test func `Every option changes the plan, or is known not to`() {
        let ignored = ignoredOptions.reduce(into: WebImageOptions()) { $0.formUnion($1.0) }
        // A vector image is not transformed, nor is an animation; only where there is a transformer to skip.
        let transform: (inout WebImageContext) -> Void = {
            $0.imageTransformer = .transformer(FlippingTransformer(horizontal: true, vertical: false))
        }
        for bit in 0..<26 {
            let option = WebImageOptions(rawValue: 1 << bit)
            let isSame = plan(option, transform) == plan([], transform)
            #expect(isSame == ignored.contains(option), "option \(bit)")
        }
    }

    // MARK: The plan

    /// Properties of the plan that are not compared, with reasons.
    private let uncompared = [
        "Fetch.url": "address is compared",
        "Fetch.rare": "owns what hooks is of",
        "Fetch.isGated": "when it starts",
        "Original.rule": "isSelective and revalidation are compared",
        "Original.isSecondTry": "only reports depend on it",
        "Original.keepsVariants": "only room in the entry depends on it",
        "Decode.encodeOptions": "one entry is written for all who share the bytes",
        "Decode.transformer": "only the memory that is asked for depends on it",
        "Result.url": "the key or the fetch are compared",
        "Transform.memory": "depends on the decode",
        "Transform.next": "only the memory that is asked for depends on it",
    ]

    @Test func `A plan is compared in all properties but a short list`() {
        let result = plan { $0.cachePolicy = .http }.value
        let decode = result.decode.value
        let original = decode.original.value
        let transform = LoadPlan.Transform(
            decode: result.decode,
            chain: result.chain,
            memory: IgnoredInEquality(value: nil)
        )
        var found: Set<String> = []
        let query = query()
        let parts: [Any?] = [
            original.fetch?.value, original.revalidation?.value, original, decode, result.chain, transform, result,
            query,
            EntryImageWork(plan: Boxed(query)).read.plan.value,
        ]
        for part in parts.compactMap(\.self) {
            for child in Mirror(reflecting: part).children
            where "\(type(of: child.value))".hasPrefix("IgnoredInEquality<") {
                found.insert("\(type(of: part)).\(child.label ?? "")")
            }
        }
        #expect(found == Set(uncompared.keys))
    }

    private let cache = FakeDisk().cache()

    private func query(
        of cache: ImageCache? = nil,
        _ key: String = "k",
        _ options: WebImageOptions = [],
        queriesMemory: Bool = true,
        _ change: (inout WebImageContext) -> Void = { _ in }
    ) -> LoadPlan.EntryImage {
        var context = WebImageContext()
        change(&context)
        let cache = cache ?? self.cache
        return LoadPlan.EntryImage(
            cache: cache,
            cacheKey: key,
            generation: cache.generation(forKey: key),
            options: options,
            context: context,
            queriesMemory: queriesMemory
        )
    }

    @Test func `A cache query's inputs are all compared, and its read by some of them`() {
        let base = query()
        #expect(query() == base)
        let others = [
            "cache": query(of: FakeDisk().cache()),
            "cacheKey": query("another"),
            "coder": query { $0.imageCoder = FakeCoder() },
            "options": query { $0.thumbnailPixelSize = ImageSize(width: 7, height: 7) },
            "queriesMemory": query(queriesMemory: false),
            "storesInMemory": query { $0.storeCacheType = ImageCacheType.none },
            "memoryOptions": query("k", .matchAnimatedImageClass),
        ]
        for (name, other) in others { #expect(other != base, "\(name)") }
        cache.storeDataToDisk(FakeCoder.data(), forKey: "k")
        #expect(query() != base, "generation")
        // From the key and the options.
        let derived: Set = ["pageOfKey", "developmentOfKey"]
        #expect(query("k-Page(3)") != query("k-Page(3)") { $0.page = 3 })
        #expect(query("k-Development(full)") != query("k-Development(full)") { $0.rawDevelopment = .full })
        #expect(labels(base) == Set(others.keys).union(["generation"]).union(derived))
        func read(_ query: LoadPlan.EntryImage) -> DiskReadWork { EntryImageWork(plan: Boxed(query)).read }
        #expect(read(query()).key != read(base).key)
        #expect(read(query()).key == DiskReadWork(cache: cache, cacheKey: "k").key, "what a load reads")
        #expect(read(base).key == read(query(queriesMemory: false).with(base.generation)).key)
    }

    @Test func `Loads of one downloader have equal plans, however it is reached, until its settings change`() {
        let downloader = WebImageDownloader()
        let ways: [any ImageLoading] = [
            downloader, ImageLoadersManager(loaders: [downloader]),
            ImageLoadersManager(loaders: [ImageLoadersManager(loaders: [downloader])]),
        ]
        let fetch = { (loader: any ImageLoading) in
            plan { $0.imageLoader = loader }.value.decode.value.original.value.fetch
        }
        let own = Boxed(downloader.core.plan(ImageLoadRequest(url: url)))
        for way in ways { #expect(fetch(way) == own) }
        downloader.setValue("1", forHTTPHeaderField: "X-A")
        for way in ways {
            #expect(fetch(way) != own)
            #expect(fetch(way) == Boxed(downloader.core.plan(ImageLoadRequest(url: url))))
        }
        #expect(fetch(WebImageDownloader()) != own)
    }

    @Test func `Every decode option makes another plan`() {
        let changes: [String: (inout ImageDecodeOptions) -> Void] = [
            "decodeFirstFrameOnly": { $0.decodeFirstFrameOnly = true },
            "preloadsAllFrames": { $0.preloadsAllFrames = true },
            "requiresAnimation": { $0.requiresAnimation = true },
            "scaleFactor": { $0.scaleFactor = 2 },
            "preserveAspectRatio": { $0.preserveAspectRatio = false },
            "thumbnailPixelSize": { $0.thumbnailPixelSize = ImageSize(width: 7, height: 7) },
            "thumbnailCovers": { $0.thumbnailCovers = true },
            "scaleDownLimitBytes": { $0.scaleDownLimitBytes = 4096 },
            "scalingQuality": { $0.scalingQuality = .fast },
            "pixelFormat": { $0.pixelFormat = .bgra8Premultiplied },
            "formatHint": { $0.formatHint = .bmp },
            "decodeToHDR": { $0.decodeToHDR = true },
            "refusesDamagedData": { $0.refusesDamagedData = true },
            "page": { $0.page = 2 },
            "rawDevelopment": { $0.rawDevelopment = .full },
            "videoTime": { $0.videoTime = 2 },
            "values": { $0.values[Page.self] = 3 },
            "limits": { $0.limits.maximumPixelCount = 5 },
        ]
        #expect(labels(ImageDecodeOptions()) == Set(changes.keys))
        for (name, change) in changes {
            var options = ImageDecodeOptions()
            change(&options)
            #expect(options != ImageDecodeOptions(), "\(name)")
        }
    }
}

extension LoadPlan.EntryImage {
    fileprivate func with(_ generation: Generation) -> LoadPlan.EntryImage {
        var copy = self
        copy.generation = generation
        return copy
    }
}

extension ImageDecodeOptions {
    fileprivate init<Value>(changing path: WritableKeyPath<ImageDecodeOptions, Value>, to value: Value) {
        self.init()
        self[keyPath: path] = value
    }
}

extension ImageEncodeOptions {
    fileprivate init<Value>(changing path: WritableKeyPath<ImageEncodeOptions, Value>, to value: Value) {
        self.init()
        self[keyPath: path] = value
    }
}
