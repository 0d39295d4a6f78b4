import FoundationEssentials
import WebImage

/// What may be seen at any time: a simple picture of cache, server and manager against which everything that happens is held.
///
/// It does not foretell which of several things happens, such as a hit or a download. It keeps, for each key and level, the
/// versions that may lie there, and for each load those that it may bring, and rules out everything else.
final class ReferenceModel: @unchecked Sendable {
    // Sendable because it is touched only by the thread that steps the world.

    /// A set of versions of one URL.
    typealias Versions = UInt64

    /// What the server says.
    enum Answer {
        case version(Int)
        case notModified(Int)
        case trouble(ModelOperation.Trouble)
    }

    /// Whether a URL is on the list of those that failed.
    enum Failed { case no, yes, perhaps }

    enum Event: Int {
        case begin = 1, progress, interim, success, failure, end, transfer, transferCancelled, answer, toMemory, toDisk
        case prefetched, callback, found
    }

    /// What may lie under the keys of a URL, by variant.
    final class Held {
        var memory = [Versions](repeating: 0, count: ModelVariant.count)
        var disk = [Versions](repeating: 0, count: ModelVariant.count)
        /// Whether the key is in memory for sure.
        var isInMemory = [Bool](repeating: false, count: ModelVariant.count)
        /// Versions that callers have stored.
        var byHand: Versions = 0
        /// The versions that must lie on disk in the end.
        var isOnDisk = [Int?](repeating: nil, count: ModelVariant.count)
        /// Queries under way, by variant, which may put into memory what lies on disk.
        var queryCounts = [Int](repeating: 0, count: ModelVariant.count)
        var queryCount = 0
        /// Whether bytes that are no picture may lie on disk.
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

    // What happened, as a number, and in words if asked for.
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

    // MARK: Which versions may be where

    /// A version of its own for something new.
    func newVersion(_ url: Int) -> Int {
        held[url].lastVersion += 1
        return held[url].lastVersion
    }

    /// Lets loads see what lies in the caches, and the caches get what loads bring, until nothing changes any more.
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

    /// Something was stored by a caller.
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

    /// What was there is gone, but for what loads under way bring back.
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

    /// Everything is gone, but for what loads under way bring back.
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

    /// Somebody else stores or removes something of a URL.
    func disturb(_ url: Int) {
        for load in running where load.spec.url == url { load.isDisturbed = true }
    }

    /// A level is given something: it must be what the key stands for, and nothing that is gone.
    func noteStore(_ picture: ModelPicture, _ key: String, toMemory: Bool) {
        note(toMemory ? .toMemory : .toDisk, picture.url, picture.version)
        guard let place = ModelKeys.place(of: key) else { return fail("stored under an unknown key: \(key)") }
        let level = toMemory ? "memory" : "disk"
        guard picture.url == place.url, place.variant.fits(picture, allowsLimit: toMemory) else {
            return fail("\(picture) is stored to \(level) under \(key)")
        }
        let versions = toMemory ? held[place.url].memory : held[place.url].disk
        if !versions[place.variant.number].has(picture.version) {
            fail("\(picture) is stored to \(level) under \(key) after it is gone")
        }
    }

    // MARK: Loads

    /// A load begins, or an item of a list.
    func begin(_ spec: ModelOperation.Load, isPrefetch: Bool = false) -> ModelLoad {
        loadCount += 1
        let load = ModelLoad(loadCount, spec, isPrefetch: isPrefetch)
        // It may join what is under way.
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
        // Its work may have succeeded before the end, which waits for what is stored.
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

    /// Whether the manager's delegate allows a download.
    func mayDownload(_ url: Int) -> Bool {
        guard held[url].isRefused else { return true }
        hasRefusedOrFailed = true
        for load in running where load.spec.url == url { load.troubles.insert(ModelLoad.refused) }
        return false
    }

    /// The loader said that a URL is not to be tried again.
    func noteBlocked(_ url: Int) {
        held[url].failed = mayForget(url) ? .perhaps : .yes
    }

    /// Whether a load under way takes a URL off the list of those that failed when it succeeds.
    func mayForget(_ url: Int) -> Bool {
        running.contains { $0.spec.url == url && $0.spec.options.contains(.retryFailed) }
    }

    func noteBegun(_ transfer: ModelTransfer, _ waiting: [ModelTransfer]) {
        if waiting.contains(where: { $0.priority > transfer.priority }) {
            fail("a transfer begins while a more urgent one waits")
        }
    }
}
