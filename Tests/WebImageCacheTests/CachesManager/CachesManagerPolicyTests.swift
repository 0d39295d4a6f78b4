import CacheTestSupport
import FoundationEssentials
import Testing
import WebImageCache

@Suite struct CachesManagerPolicyTests {
    typealias Policy = ImageCachesManager.OperationPolicy

    /// An operation, how its policy is set, and how it is started.
    enum Operation: CaseIterable, CustomTestStringConvertible {
        case query, store, remove, contains, clear

        var testDescription: String { "\(self)" }

        func set(_ policy: Policy, _ manager: ImageCachesManager) {
            switch self {
            case .query: manager.queryPolicy = policy
            case .store: manager.storePolicy = policy
            case .remove: manager.removePolicy = policy
            case .contains: manager.containsPolicy = policy
            case .clear: manager.clearPolicy = policy
            }
        }

        func policy(of manager: ImageCachesManager) -> Policy {
            switch self {
            case .query: manager.queryPolicy
            case .store: manager.storePolicy
            case .remove: manager.removePolicy
            case .contains: manager.containsPolicy
            case .clear: manager.clearPolicy
            }
        }

        func begin(_ manager: ImageCachesManager, key: String = "k", end: @escaping @Sendable () -> Void) {
            switch self {
            case .query: manager.queryDisk(forKey: key, priority: .normal) { _ in end() }
            case .store:
                var request = ImageStoreRequest(key: key, data: Data([1]))
                request.cacheType = .disk
                manager.store(request, completion: end)
            case .remove: manager.removeImage(forKey: key, from: .disk, completion: end)
            case .contains: manager.containsImage(forKey: key, in: .all) { _ in end() }
            case .clear: manager.clear(.disk, completion: end)
            }
        }
    }

    /// Delayed responses, cache by cache: the caches asked at first, and in the end.
    private func expected(_ policy: Policy) -> (first: [String], all: [String]) {
        switch policy {
        case .serial: (["high"], ["high", "middle", "low"])
        case .concurrent: (["high", "middle", "low"], ["high", "middle", "low"])
        case .highestOnly: (["high"], ["high"])
        case .lowestOnly: (["low"], ["low"])
        }
    }

    private func check(_ operation: Operation, _ policy: Policy, _ harness: CachesHarness) {
        let ends = Answers<Bool>()
        operation.begin(harness.manager) { ends.note(true) }
        let (first, all) = expected(policy)
        #expect(harness.asked == first)
        for cache in [harness.high, harness.middle, harness.low] where all.contains(cache.name) {
            #expect(ends.count == 0)
            cache.answer()
        }
        #expect(harness.asked == all)
        #expect(ends.count == 1)
    }

    @Test(arguments: Operation.allCases, Policy.allCases)
    func `Every operation follows its own policy`(operation: Operation, policy: Policy) {
        let harness = CachesHarness(isHeld: true)
        operation.set(policy, harness.manager)
        check(operation, policy, harness)
    }

    @Test(arguments: Operation.allCases, Policy.allCases)
    func `Complaint 37: each policy is independent`(operation: Operation, policy: Policy) {
        for other in Policy.allCases where other != policy {
            let harness = CachesHarness(isHeld: true)
            for each in Operation.allCases { each.set(each == operation ? policy : other, harness.manager) }
            for each in Operation.allCases {
                #expect(each.policy(of: harness.manager) == (each == operation ? policy : other))
            }
            check(operation, policy, harness)
        }
    }

    @Test func `The defaults are the documented ones (caches manager)`() {
        let manager = ImageCachesManager(caches: [])
        #expect(
            Operation.allCases.map { $0.policy(of: manager) } == [
                .serial, .highestOnly, .concurrent, .serial, .concurrent,
            ]
        )
        #expect(Policy.allCases.map(\.rawValue) == [0, 1, 2, 3])
    }

    @Test(arguments: Operation.allCases, Policy.allCases)
    func `Without caches or a key everything completes`(operation: Operation, policy: Policy) {
        let ends = Answers<Bool>()
        let empty = ImageCachesManager(caches: [])
        operation.set(policy, empty)
        operation.begin(empty) { ends.note(true) }
        #expect(ends.count == 1)
        #expect(empty.memoryImage(forKey: "k") == nil && empty.diskEntry(forKey: "k") == nil)
        let harness = CachesHarness("a", "b", "c", isHeld: true)
        operation.set(policy, harness.manager)
        guard operation != .clear else { return }
        operation.begin(harness.manager, key: "") { ends.note(true) }
        #expect(ends.count == 2 && harness.asked.isEmpty)
        #expect(harness.manager.memoryImage(forKey: "") == nil && harness.manager.diskEntry(forKey: "") == nil)
    }

    @Test(arguments: Operation.allCases, Policy.allCases)
    func `A single cache is asked under every policy`(operation: Operation, policy: Policy) {
        let harness = CachesHarness()
        harness.manager.caches = [harness.middle]
        operation.set(policy, harness.manager)
        let ends = Answers<Bool>()
        operation.begin(harness.manager) { ends.note(true) }
        #expect(harness.asked == ["middle"] && ends.count == 1)
    }

    @Test(arguments: Operation.allCases, [Policy.serial, .concurrent])
    func `Twenty thousand caches that respond at once do not make a deep stack`(operation: Operation, policy: Policy) {
        let cache = ProbeCache("one", ProbeCache.Log())
        let manager = ImageCachesManager(caches: Array(repeating: cache, count: 20_000))
        operation.set(policy, manager)
        let ends = Answers<Bool>()
        operation.begin(manager) { ends.note(true) }
        #expect(ends.count == 1)
    }
}
