import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

/// A node that does nothing. Its tests use it on one thread.
private final class TestNode: WorkGraphNode, @unchecked Sendable, Hashable, CustomStringConvertible {
    typealias Receiver = Int
    typealias Output = Int
    typealias Note = String
    typealias Value = String

    /// Receivers from 100 on take values.
    static func takes(_ value: String, _ receiver: Int) -> Bool { receiver >= 100 }
    static func keeps(_ output: Int, of key: String) -> Bool { key.hasPrefix("kept") }
    /// Failures are negative here, and leave it to others.
    static func isUsedUp(_ output: Int, by result: Int) -> Bool { result >= 0 }
    static func summary(of output: Int, after note: String) -> String? { "\(note), made \(output)" }

    let key: String
    var links = WorkLinks<TestNode>()

    init(_ key: String) { self.key = key }

    var description: String { "\(key)@\(UInt(bitPattern: ObjectIdentifier(self).hashValue))" }

    static func == (left: TestNode, right: TestNode) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

@Suite(.tags(.threadSanitizer)) struct WorkGraphTests {
    private typealias Graph = WorkGraph<TestNode>

    /// The result of joining. The receiver is a number that stands for the subscription.
    private struct Joined {
        let subscription: Graph.Subscription
        let receiver: Int
        let actions: [Graph.Action]

        var node: TestNode { subscription.node }
    }

    /// Actions in words, without versions, so that rows of expectations read well.
    private func words(_ actions: [Graph.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .start(let node): "start \(node)"
            case .cancel(let node): "cancel \(node)"
            case .setPriority(let node, let priority, _): "priority \(node) \(priority)"
            case .progress(let id, let progress): "progress \(id) \(progress.receivedByteCount)"
            case .deliver(let id, _, let output): "deliver \(id) \(output)"
            case .forget(let id): "forget \(id)"
            case .note(let id, let note): "note \(id) \(note)"
            case .value(let id, _, let value): "value \(id) \(value)"
            case .discard(let notes, let value, let output):
                "discard " + (notes + [value, output.map { "\($0)" }].compactMap(\.self)).joined(separator: " ")
            }
        }
    }

    private struct NotJoined: Error {}

    private let lastReceiver = Lock(0)

    private func join(
        _ graph: inout Graph,
        _ key: String,
        _ priority: LoadPriority,
        parent: TestNode? = nil,
        joining note: String? = nil
    ) throws -> Joined {
        let receiver = lastReceiver.withLock { last in
            last += 1
            return last
        }
        let joined = graph.subscribe(
            to: key,
            priority: priority,
            parent: parent,
            receiver: receiver,
            joining: note
        ) { _ in TestNode(key) }
        guard let joined else { throw NotJoined() }
        return Joined(subscription: joined.subscription, receiver: receiver, actions: joined.actions)
    }

    @Test func `The first subscriber starts the work, later ones join it`() throws {
        var graph = Graph()
        let first = try join(&graph, "a", .normal)
        let second = try join(&graph, "a", .normal)
        #expect(words(first.actions) == ["start \(first.node)"])
        #expect(second.actions.isEmpty)
        #expect(first.node == second.node)
        #expect(graph.nodeCount == 1)
    }

    @Test func `Finishing delivers to all in the order they joined and leaves nothing behind`() throws {
        var graph = Graph()
        let first = try join(&graph, "a", .normal)
        let second = try join(&graph, "a", .low)
        let seen1 = words(graph.finish(first.node, with: 7))
        #expect(
            seen1 == [
                "deliver \(first.receiver) 7", "deliver \(second.receiver) 7",
            ]
        )
        #expect(graph.nodeCount == 0)
        #expect(graph.subscriptionCount == 0)
        let seen10 = graph.finish(first.node, with: 8)
        #expect(seen10.isEmpty)
    }

    @Test func `Work continues when one of two leaves, and is cancelled when the last does`() throws {
        var graph = Graph()
        let first = try join(&graph, "a", .normal)
        let second = try join(&graph, "a", .normal)
        let seen2 = words(graph.unsubscribe(first.subscription) ?? [])
        #expect(seen2 == ["forget \(first.receiver)"])
        let seen3 = words(graph.unsubscribe(second.subscription) ?? [])
        #expect(
            seen3 == [
                "forget \(second.receiver)", "cancel \(first.node)",
            ]
        )
        let seen11 = graph.unsubscribe(second.subscription)
        #expect(seen11 == nil)
        #expect(graph.nodeCount == 0)
    }

    @Test func `A key whose work was cancelled starts again, and the old work's end changes nothing`() throws {
        var graph = Graph()
        let old = try join(&graph, "a", .normal)
        _ = graph.unsubscribe(old.subscription)
        let new = try join(&graph, "a", .normal)
        #expect(new.node != old.node)
        let seen12 = graph.finish(old.node, with: 1)
        #expect(seen12.isEmpty)
        let seen4 = words(graph.finish(new.node, with: 2))
        #expect(seen4 == ["deliver \(new.receiver) 2"])
    }

    @Test func `Cancelling work releases its dependencies unless they have other subscribers`() throws {
        var graph = Graph()
        let top = try join(&graph, "decode", .normal)
        let below = try join(&graph, "data", .normal, parent: top.node)
        let other = try join(&graph, "decode small", .normal)
        let shared = try join(&graph, "data", .normal, parent: other.node)
        #expect(shared.node == below.node)
        let seen5 = words(graph.unsubscribe(top.subscription) ?? [])
        #expect(
            seen5 == [
                "forget \(top.receiver)", "cancel \(top.node)", "forget \(below.receiver)",
            ]
        )
        let seen6 = words(graph.unsubscribe(other.subscription) ?? [])
        #expect(
            seen6 == [
                "forget \(other.receiver)", "cancel \(other.node)", "forget \(shared.receiver)",
                "cancel \(below.node)",
            ]
        )
        #expect(graph.subscriptionCount == 0)
    }

    @Test func `Ended work cannot get new dependencies`() throws {
        var graph = Graph()
        let top = try join(&graph, "a", .normal)
        _ = graph.unsubscribe(top.subscription)
        #expect(throws: NotJoined.self) { try join(&graph, "b", .normal, parent: top.node) }
        #expect(graph.nodeCount == 0)
    }

    @Test func `Priority is the highest of the subscribers and reaches the dependencies`() throws {
        var graph = Graph()
        let slow = try join(&graph, "decode", .low)
        let data = try join(&graph, "data", .high, parent: slow.node)
        #expect(data.node.links.priority == .low, "a dependent's own priority counts, not the argument")
        let fast = try join(&graph, "decode", .high)
        #expect(words(fast.actions) == ["priority \(slow.node) high", "priority \(data.node) high"])
        let seen7 = words(graph.unsubscribe(fast.subscription) ?? [])
        #expect(
            seen7 == [
                "forget \(fast.receiver)", "priority \(slow.node) low", "priority \(data.node) low",
            ]
        )
        let seen8 = words(graph.setPriority(.normal, of: slow.subscription))
        #expect(
            seen8 == [
                "priority \(slow.node) normal", "priority \(data.node) normal",
            ]
        )
        let seen13 = graph.setPriority(.normal, of: slow.subscription)
        #expect(seen13.isEmpty)
    }

    @Test func `Events pass through dependents to callers in the order they were made`() throws {
        var graph = Graph()
        let top = try join(&graph, "decode", .normal)
        let below = try join(&graph, "data", .normal, parent: top.node)
        let other = try join(&graph, "data", .normal)
        let seen = words(graph.tell(.note("asked"), of: below.node)) + words(graph.tell(.note("decoded"), of: top.node))
        #expect(
            seen == [
                "note \(top.receiver) asked", "note \(other.receiver) asked",
                "note \(top.receiver) decoded",
            ]
        )
        let ended = graph.finish(top.node, with: 1)
        #expect(
            words(ended) == [
                "forget \(below.receiver)", "deliver \(top.receiver) 1", "discard asked decoded",
            ]
        )
        let late = graph.tell(.note("late"), of: top.node)
        #expect(late.isEmpty, "ended work reports nothing")
    }

    @Test func `A late subscriber is told so, and then gets past events, also through dependents`() throws {
        var graph = Graph()
        let first = try join(&graph, "data", .normal)
        _ = graph.tell(.note("asked"), of: first.node)
        _ = graph.tell(.note("answered"), of: first.node)
        let top = try join(&graph, "decode", .normal, joining: "joined")
        #expect(words(top.actions) == ["start \(top.node)"], "new work is not joined")
        let late = try join(&graph, "data", .normal, parent: top.node, joining: "joined")
        let told = ["joined", "asked", "answered"]
        #expect(words(late.actions) == told.map { "note \(top.receiver) \($0)" })
        let last = try join(&graph, "decode", .normal)
        #expect(words(last.actions) == told.map { "note \(last.receiver) \($0)" }, "dependents keep it, too")
    }

    @Test func `Only the latest events are kept, and all are handed out to be released`() throws {
        var graph = Graph()
        let first = try join(&graph, "data", .normal)
        var discarded: [String] = []
        func collect(_ actions: [Graph.Action]) {
            for case .discard(let notes, _, _) in actions { discarded += notes }
        }
        for number in 0..<Graph.noteLimit + 4 { collect(graph.tell(.note("\(number)"), of: first.node)) }
        #expect(discarded == ["0", "1", "2", "3"])
        let late = try join(&graph, "data", .normal)
        #expect(late.actions.count == Graph.noteLimit && words(late.actions)[0].hasSuffix(" 4"))
        _ = graph.unsubscribe(late.subscription)
        collect(graph.unsubscribe(first.subscription) ?? [])
        #expect(discarded.count == Graph.noteLimit + 4)
    }

    @Test
    func `A value is delivered to nodes that take it, past those that do not, and the newest to late subscribers`()
        throws
    {
        var graph = Graph()
        lastReceiver.withLock { $0 = 0 }
        let passing = try join(&graph, "result", .normal)
        lastReceiver.withLock { $0 = 99 }
        let taking = try join(&graph, "result", .normal)
        lastReceiver.withLock { $0 = 1 }
        let bytes = try join(&graph, "bytes", .normal, parent: passing.node)
        let one = graph.tell(.value("one"), of: bytes.node)
        #expect(words(one) == ["value 100 one"])
        let two = graph.tell(.value("two"), of: bytes.node)
        #expect(words(two) == ["discard one", "discard one", "value 100 two"])
        lastReceiver.withLock { $0 = 100 }
        let late = try join(&graph, "result", .normal)
        #expect(words(late.actions) == ["value 101 two"])
        #expect(graph.hasReceiver(of: bytes.node) { $0 == 100 } && !graph.hasReceiver(of: bytes.node) { $0 == 99 })
        let end = graph.finish(bytes.node, with: 7)
        #expect(words(end) == ["deliver 2 7", "discard two"])
        let three = graph.tell(.value("three"), of: bytes.node)
        #expect(words(three).isEmpty)
        _ = graph.finish(passing.node, with: 8)
        let four = graph.tell(.value("four"), of: taking.node)
        #expect(words(four).isEmpty && graph.nodeCount == 0)
    }

    @Test func `Output is kept until a dependent ends that has used it up`() throws {
        var graph = Graph()
        let first = try join(&graph, "first", .normal)
        let bytes = try join(&graph, "kept", .normal, parent: first.node)
        let end = graph.finish(bytes.node, with: 7)
        #expect(words(end) == ["deliver 2 7"] && graph.nodeCount == 1)
        // A caller gets it, and a node that depends on it.
        #expect(
            words(try join(&graph, "kept", .normal, joining: "late").actions) == [
                "note 3 late", "note 3 late, made 7", "deliver 3 7",
            ]
        )
        let second = try join(&graph, "second", .normal)
        let joined = try join(&graph, "kept", .normal, parent: second.node)
        #expect(words(joined.actions) == ["deliver 5 7"] && joined.node === bytes.node)
        let other = try join(&graph, "other", .normal)
        #expect(try join(&graph, "kept", .normal, parent: other.node).node === bytes.node)
        _ = graph.finish(other.node, with: -1)
        #expect(words(try join(&graph, "kept", .normal).actions) == ["deliver 8 7"])
        _ = graph.finish(first.node, with: 1)
        // The second still has it, and others get newer output.
        let third = try join(&graph, "third", .normal)
        let newer = try join(&graph, "kept", .normal, parent: third.node)
        #expect(newer.node !== bytes.node && words(newer.actions) == ["start \(newer.node)"])
        let last = graph.finish(second.node, with: 2)
        #expect(words(last) == ["discard 7", "deliver 4 2"])
        #expect(try join(&graph, "kept", .normal).node === newer.node)
    }

    @Test func `Kept output is released when all dependents were cancelled`() throws {
        var graph = Graph()
        let (first, second) = (try join(&graph, "first", .normal), try join(&graph, "second", .normal))
        let bytes = try join(&graph, "kept", .normal, parent: first.node)
        _ = try join(&graph, "kept", .normal, parent: second.node)
        _ = graph.finish(bytes.node, with: 7)
        #expect(graph.subscriptionCount == 2)
        _ = graph.unsubscribe(first.subscription)
        #expect(words(try join(&graph, "kept", .normal).actions) == ["deliver 5 7"])
        let left = graph.unsubscribe(second.subscription) ?? []
        #expect(words(left) == ["forget 2", "cancel \(second.node)", "discard 7"])
        #expect(try join(&graph, "kept", .normal).node !== bytes.node)
    }

    @Test func `A node is found by its alternative key, too, unless that belongs to another`() throws {
        var graph = Graph()
        let node = try join(&graph, "disk or net", .normal).node
        let isFound = graph.alias(node, as: "kept net")
        #expect(isFound)
        #expect(try join(&graph, "kept net", .normal).node === node)
        let other = try join(&graph, "disk", .normal).node
        let isTaken = !graph.alias(other, as: "kept net")
        #expect(isTaken)
        _ = graph.finish(node, with: 1)
        #expect(try join(&graph, "kept net", .normal).node !== node)
    }

    @Test func `Later changes of priority carry higher versions`() throws {
        var graph = Graph()
        let caller = try join(&graph, "a", .low)
        let versions = [LoadPriority.high, .normal, .high].flatMap { priority in
            graph.setPriority(priority, of: caller.subscription).map { action -> UInt32 in
                guard case .setPriority(_, _, let version) = action else { return 0 }
                return version
            }
        }
        #expect(versions.count == 3)
        #expect(versions == versions.sorted() && Set(versions).count == 3)
    }

    @Test func `Progress passes through dependents to callers, and late callers get the current value`() throws {
        var graph = Graph()
        let top = try join(&graph, "decode", .normal)
        let data = try join(&graph, "data", .normal, parent: top.node)
        let reading = LoadProgress(receivedByteCount: 5, expectedByteCount: 10)
        let seen9 = words(graph.tell(.progress(reading), of: data.node))
        #expect(seen9 == ["progress \(top.receiver) 5"])
        let late = try join(&graph, "decode", .normal)
        #expect(words(late.actions) == ["progress \(late.receiver) 5"])
        let other = try join(&graph, "decode small", .normal)
        let joined = try join(&graph, "data", .normal, parent: other.node)
        #expect(words(joined.actions) == ["progress \(other.receiver) 5"])
    }

    @Test(arguments: 0..<20)
    func `Whatever happens, every subscription ends exactly once`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var graph = Graph()
        var open: [Int: Graph.Subscription] = [:]
        var running: [TestNode] = []
        var ended: [Int: Int] = [:]
        func apply(_ actions: [Graph.Action]) {
            for action in actions {
                switch action {
                case .start(let node): running.append(node)
                case .cancel(let node): running.removeAll { $0 === node }
                case .deliver(let id, _, _), .forget(let id):
                    ended[id, default: 0] += 1
                    open[id] = nil
                case .progress, .setPriority, .note, .value, .discard: break
                }
            }
        }
        for _ in 0..<2000 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                // Only work of letter a has dependencies, and only on work of other letters: there are no cycles.
                let parent =
                    Bool.random(using: &random)
                    ? running.first { $0.key.hasPrefix("a") } : nil
                let letter = parent == nil ? "a" : Bool.random(using: &random) ? "b" : "kept"
                let key = letter + String(Int.random(in: 0..<4, using: &random))
                let priority = LoadPriority.allCases.randomElement(using: &random) ?? .normal
                let joined = try join(&graph, key, priority, parent: parent)
                open[joined.receiver] = joined.subscription
                apply(joined.actions)
            case 2:
                let id = open.keys.sorted().randomElement(using: &random)
                if let one = id.flatMap({ open[$0] }), let actions = graph.unsubscribe(one) { apply(actions) }
            case 3:
                let id = open.keys.sorted().randomElement(using: &random)
                if let one = id.flatMap({ open[$0] }) { apply(graph.setPriority(.high, of: one)) }
            default:
                guard let node = running.randomElement(using: &random) else { continue }
                running.removeAll { $0 === node }
                apply(graph.finish(node, with: Int.random(in: -1...0, using: &random)))
            }
            #expect(graph.nodeCount == running.count)
            #expect(graph.subscriptionCount == open.count)
        }
        for one in open.values { if let actions = graph.unsubscribe(one) { apply(actions) } }
        #expect(graph.nodeCount == 0 && graph.subscriptionCount == 0)
        #expect(ended.values.allSatisfy { $0 == 1 })
    }
}
