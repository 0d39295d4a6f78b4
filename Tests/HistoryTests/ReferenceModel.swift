import FoundationEssentials
import WebImage

/// The allowed states at any time: a simple model of cache, server and manager with which everything that happens is
/// compared.
///
/// It does not predict which of several things happens, such as a hit or a download. It keeps, for each key and level,
/// the versions that may be there, and for each load those that it may deliver, and excludes everything else.
final class ReferenceModel: @unchecked Sendable {
    // Sendable because only the thread that steps the world uses it.

    /// A set of versions of one URL.
    typealias Versions = UInt64

    /// The server's version.
    enum Answer {
        case version(Int)
        case notModified(Int)
        case trouble(ModelOperation.Trouble)
    }

    /// The state of a URL on the list of failed ones.
    enum Failed { case no, yes, perhaps }

    enum Event: Int {
        case begin = 1, progress, interim, success, failure, end, transfer, transferCancelled, answer, toMemory, toDisk
        case prefetched, callback, found
    }

    /// The possible versions under the keys of a URL, by variant.
    final class Held {
        var memory = [Versions](repeating: 0, count: ModelVariant.count)
        var disk = [Versions](repeating: 0, count: ModelVariant.count)
        /// A Boolean value that indicates whether the key is certainly in memory.
        var isInMemory = [Bool](repeating: false, count: ModelVariant.count)
        /// Versions that callers have stored.
        var byHand: Versions = 0
        /// The versions that must be on disk in the end.
        var isOnDisk = [Int?](repeating: nil, count: ModelVariant.count)
        /// Running queries, by variant, which may put disk entries into memory.
        var queryCounts = [Int](repeating: 0, count: ModelVariant.count)
        var queryCount = 0
        /// A Boolean value that indicates whether bytes that are not an image may be on disk.
        var isBad = false
        var lastVersion = 0
        var failed = Failed.no
        var isRefused = false
    }

    let setup: ModelSetup
    let held: [Held]
    /// Loads and items of lists that have not ended.
    var running: [ModelLoad] = []
    private var loadCount = 0
    var hasRefusedOrFailed = false
    private(set) var failure: String?

    // The events as a hash, and in words on request.
    private(set) var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    var keepsWords = false
    private(set) var words: [String] = []

    init(_ setup: ModelSetup) {
        self.setup = setup
        held = (0..<ModelKeys.urlCount).map { _ in Held() }
    }

    func note(_ event: Event, _ values: Int...) {
        digest = (digest ^ UInt64(event.rawValue)) &* 0x100_0000_01b3
        for value in values { digest = (digest ^ UInt64(truncatingIfNeeded: value)) &* 0x100_0000_01b3 }
        if keepsWords { words.append("\(event) \(values)") }
    }

    func noteWords(_ text: @autoclosure () -> String) { if keepsWords { words.append(text()) } }

    func fail(_ message: @autoclosure () -> String) {
        guard failure == nil else { return }
        failure = message()
        if keepsWords { words.append("FAILURE: \(message())") }
    }

    // MARK: Possible versions

    /// A new version number.
    func newVersion(_ url: Int) -> Int {
        held[url].lastVersion += 1
        return held[url].lastVersion
    }

    /// Propagates versions from the caches to loads, and from loads to the caches, until nothing changes any more.
    func spread(_ url: Int) {
        let held = held[url]
        if held.queryCount > 0 {
            for variant in 0..<ModelVariant.count where held.queryCounts[variant] > 0 {
                held.memory[variant] |= held.disk[variant]
            }
        }
        var isChanging = true
        while isChanging {
            isChanging = false
            for load in running where load.spec.url == url && spread(load, url) { isChanging = true }
        }
    }

    private func spread(_ load: ModelLoad, _ url: Int) -> Bool {
        let (held, key) = (held[url], load.key)
        let before = (load.allowed, held.memory[key], held.disk[key], held.disk[0], held.memory[0])
        load.allowed |= load.answered
        if !load.spec.options.contains(.fromLoaderOnly) {
            for source in load.spec.variant.sources {
                load.allowed |= held.memory[source.number] | held.disk[source.number]
            }
        }
        held.memory[key] |= load.allowed
        held.disk[key] |= load.allowed
        held.disk[0] |= load.answered
        if load.spec.originalStore?.includesMemory == true { held.memory[0] |= load.allowed }
        return before != (load.allowed, held.memory[key], held.disk[key], held.disk[0], held.memory[0])
    }

    /// A caller stored something.
    func noteStored(_ url: Int, _ variant: ModelVariant, _ version: Int, _ type: ImageCacheType) {
        held[url].byHand |= 1 << Versions(version)
        if type.includesMemory { held[url].memory[variant.number] |= 1 << Versions(version) }
        if type.includesDisk { held[url].disk[variant.number] |= 1 << Versions(version) }
        if type.includesDisk {
            let isAlone = setup.isRoomy && !running.contains { $0.spec.url == url }
            held[url].isOnDisk[variant.number] = isAlone ? version : nil
        }
        disturb(url)
        spread(url)
    }

    /// The entry is gone, except for what running loads store again.
    func noteRemoved(_ url: Int, _ variant: ModelVariant, _ type: ImageCacheType) {
        if type.includesMemory {
            held[url].memory[variant.number] = 0
            held[url].isInMemory[variant.number] = false
        }
        if type.includesDisk {
            held[url].disk[variant.number] = 0
            held[url].isOnDisk[variant.number] = nil
        }
        disturb(url)
        spread(url)
    }

    /// Everything is gone, except for what running loads store again.
    func noteCleared(_ type: ImageCacheType) {
        for (url, held) in held.enumerated() {
            for variant in 0..<ModelVariant.count {
                if type.includesMemory { (held.memory[variant], held.isInMemory[variant]) = (0, false) }
                if type.includesDisk { (held.disk[variant], held.isOnDisk[variant]) = (0, nil) }
            }
            disturb(url)
            spread(url)
        }
    }

    func noteMemoryShort() {
        for url in held.indices {
            held[url].isInMemory = [Bool](repeating: false, count: ModelVariant.count)
            disturb(url)
        }
    }

    /// Another caller stores or removes something of a URL.
    func disturb(_ url: Int) {
        for load in running where load.spec.url == url { load.isDisturbed = true }
    }

    /// A level stores an image: it must match the key, and not have been removed.
    func noteStore(_ image: ModelImage, _ key: String, toMemory: Bool) {
        note(toMemory ? .toMemory : .toDisk, image.url, image.version)
        guard let place = ModelKeys.place(of: key) else { return fail("stored under an unknown key: \(key)") }
        let level = toMemory ? "memory" : "disk"
        guard image.url == place.url, place.variant.fits(image, allowsLimit: toMemory) else {
            return fail("\(image) is stored to \(level) under \(key)")
        }
        let versions = toMemory ? held[place.url].memory : held[place.url].disk
        if !versions[place.variant.number].has(image.version) {
            fail("\(image) is stored to \(level) under \(key) after it is gone")
        }
    }

    // MARK: Loads

    /// A load begins, or an item of a list.
    func begin(_ spec: ModelOperation.Load, isPrefetch: Bool = false) -> ModelLoad {
        loadCount += 1
        let load = ModelLoad(loadCount, spec, isPrefetch: isPrefetch)
        // It may join running work.
        for other in running where other.spec.url == spec.url {
            load.answered |= other.answered
            load.troubles.formUnion(other.troubles)
            if !spec.options.contains(.fromLoaderOnly) { load.allowed |= other.allowed }
        }
        if load.isUnsettling { disturb(spec.url) }
        load.isDisturbed = running.contains { $0.spec.url == spec.url && $0.isUnsettling }
        running.append(load)
        spread(spec.url)
        load.isInMemory = held[spec.url].isInMemory[load.key]
        held[spec.url].isOnDisk = [Int?](repeating: nil, count: ModelVariant.count)
        if load.isUnsettling {
            held[spec.url].isInMemory = [Bool](repeating: false, count: ModelVariant.count)
        }
        note(.begin, load.number, spec.url, load.key)
        return load
    }

    func end(_ load: ModelLoad) {
        guard running.contains(where: { $0 === load }) else { return }
        running.removeAll { $0 === load }
        // Its work may have succeeded before the end, which waits for the stores.
        let mayForget = load.spec.options.contains(.retryFailed)
        if mayForget, held[load.spec.url].failed == .yes { held[load.spec.url].failed = .perhaps }
    }

    func noteAnswer(_ url: Int, _ answer: Answer) {
        switch answer {
        case .version(let version), .notModified(let version):
            note(.answer, url, version)
            for load in running where load.spec.url == url { load.answered |= 1 << Versions(version) }
            spread(url)
        case .trouble(let trouble):
            note(.answer, url, -trouble.rawValue)
            hasRefusedOrFailed = true
            for load in running where load.spec.url == url { load.troubles.insert(trouble.rawValue) }
        }
    }

    /// Returns whether the manager's delegate allows a download.
    func mayDownload(_ url: Int) -> Bool {
        guard held[url].isRefused else { return true }
        hasRefusedOrFailed = true
        for load in running where load.spec.url == url { load.troubles.insert(ModelLoad.refused) }
        return false
    }

    /// The loader reported that a URL must not be tried again.
    func noteBlocked(_ url: Int) {
        held[url].failed = mayForget(url) ? .perhaps : .yes
    }

    /// Returns whether a running load takes a URL off the list of failed ones when it succeeds.
    func mayForget(_ url: Int) -> Bool {
        running.contains { $0.spec.url == url && $0.spec.options.contains(.retryFailed) }
    }

    func noteBegun(_ transfer: ModelTransfer, _ waiting: [ModelTransfer]) {
        if waiting.contains(where: { $0.priority > transfer.priority }) {
            fail("a transfer begins while a more urgent one waits")
        }
    }
}
