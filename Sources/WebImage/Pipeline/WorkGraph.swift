/// Who waits for which piece of shared work, what it depends on, and how urgent it is.
///
/// Pure bookkeeping: events go in as method calls, and out come the actions that a driver has to perform. It starts no
/// threads, calls nobody and holds no lock. A piece of work ("node") is found by its key as long as it runs. Subscribers
/// are callers, or other nodes that depend on it. A node's priority is the highest of its subscribers'; when the last one
/// leaves, the node is cancelled, and leaves what it depends on.
///
/// Cost: each event takes time in proportion to the subscribers it touches.
///
/// - `Note`: something that happened to work, for those who observe it; passed on as it is.
struct WorkGraph<Key: Hashable & Sendable, Output: Sendable, Note: Sendable>: Sendable {
    typealias NodeID = UInt64
    typealias SubscriptionID = UInt64

    /// What the driver has to do, in order.
    enum Action: Sendable {
        /// Begin the work of a new node.
        case start(NodeID)
        /// Give up the work of a node that nobody waits for any more.
        case cancel(NodeID)
        /// Tell the work of a node how urgent it is now. Of two such actions the one with the higher version counts,
        /// in whatever order drivers get to them.
        case setPriority(NodeID, LoadPriority, version: UInt64)
        /// Tell a caller how far it is.
        case progress(SubscriptionID, LoadProgress)
        /// Tell a caller what happened.
        case note(SubscriptionID, Note)
        /// Let go of notes; they may own anything.
        case discard([Note])
        /// Give a subscriber the outcome; it is none any more.
        case deliver(SubscriptionID, Output)
        /// Forget a subscriber whose dependent has ended; it gets nothing.
        case forget(SubscriptionID)
    }

    private struct Subscription {
        var node: NodeID
        var parent: NodeID?
        var priority: LoadPriority
    }

    private struct Node {
        var key: Key
        var priority: LoadPriority
        var subscribers = FewIDs()
        var dependencies = FewIDs()
    }

    /// How many notes a node keeps.
    static var noteLimit: Int { 16 }

    private var nodes: [NodeID: Node] = [:]
    private var running: [Key: NodeID] = [:]
    private var subscriptions: [SubscriptionID: Subscription] = [:]
    /// What nodes have reported last, for those who join late. Most report nothing.
    private var progress: [NodeID: LoadProgress] = [:]
    private var notes: [NodeID: [Note]] = [:]
    private var lastID: UInt64 = 0

    /// Nodes that run.
    var nodeCount: Int { nodes.count }
    /// Subscriptions that have not been delivered or given up.
    var subscriptionCount: Int { subscriptions.count }

    /// The priority of a running node.
    func priority(of node: NodeID) -> LoadPriority? { nodes[node]?.priority }

    /// Who waits for a running node, in the order they came.
    func subscribers(of node: NodeID) -> [SubscriptionID] { nodes[node].map { Array($0.subscribers) } ?? [] }

    /// Joins the node of `key`, making it if there is none.
    ///
    /// - Parameters:
    ///   - parent: the node that depends on it; its priority counts, and `priority` does not.
    ///   - note: what the subscriber and those behind it are told if the node runs already.
    /// - Returns: nil if `parent` does not run any more.
    mutating func subscribe(
        to key: Key,
        priority: LoadPriority,
        parent: NodeID? = nil,
        joining note: Note? = nil
    ) -> (subscription: SubscriptionID, node: NodeID, actions: [Action])? {
        var priority = priority
        if let parent {
            guard let inherited = nodes[parent]?.priority else { return nil }
            priority = inherited
        }
        var actions: [Action] = []
        let id = makeID()
        let nodeID: NodeID
        if let existing = running[key] {
            nodeID = existing
        } else {
            nodeID = makeID()
            nodes[nodeID] = Node(key: key, priority: priority)
            running[key] = nodeID
            actions.append(.start(nodeID))
        }
        subscriptions[id] = Subscription(node: nodeID, parent: parent, priority: priority)
        nodes[nodeID]?.subscribers.append(id)
        if let parent { nodes[parent]?.dependencies.append(id) }
        updatePriority(of: nodeID, &actions)
        if actions.first?.isStart != true, let note { forward(note, to: id, &actions) }
        for note in notes[nodeID] ?? [] { forward(note, to: id, &actions) }
        if let progress = progress[nodeID] { forward(progress, to: id, &actions) }
        return (id, nodeID, actions)
    }

    /// Leaves; nil if the subscription had been delivered or left before.
    mutating func unsubscribe(_ id: SubscriptionID) -> [Action]? {
        guard subscriptions[id] != nil else { return nil }
        var actions: [Action] = []
        leave(id, &actions)
        return actions
    }

    /// Changes how urgent the work is for one caller.
    mutating func setPriority(_ priority: LoadPriority, of id: SubscriptionID) -> [Action] {
        guard let node = subscriptions[id]?.node else { return [] }
        var actions: [Action] = []
        subscriptions[id]?.priority = priority
        updatePriority(of: node, &actions)
        return actions
    }

    /// Tells everyone who waits for the node, directly or through others, how far it is.
    mutating func report(_ progress: LoadProgress, of node: NodeID) -> [Action] {
        var actions: [Action] = []
        report(progress, of: node, &actions)
        return actions
    }

    /// Tells everyone who waits for the node, directly or through others, what happened to it, and those who join later.
    mutating func note(_ note: Note, of node: NodeID) -> [Action] {
        var actions: [Action] = []
        self.note(note, of: node, &actions)
        return actions
    }

    /// Ends a node: its subscribers get `output` in the order they came. Nothing if it was cancelled before.
    mutating func finish(_ node: NodeID, with output: Output) -> [Action] {
        guard let ended = nodes.removeValue(forKey: node) else { return [] }
        running[ended.key] = nil
        var actions: [Action] = []
        for dependency in ended.dependencies { leave(dependency, &actions) }
        for id in ended.subscribers {
            if let parent = subscriptions.removeValue(forKey: id)?.parent {
                nodes[parent]?.dependencies.remove(id)
            }
            actions.append(.deliver(id, output))
        }
        forgetReports(of: node, &actions)
        return actions
    }

    private mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    private mutating func leave(_ id: SubscriptionID, _ actions: inout [Action]) {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return }
        actions.append(.forget(id))
        if let parent = subscription.parent { nodes[parent]?.dependencies.remove(id) }
        let nodeID = subscription.node
        nodes[nodeID]?.subscribers.remove(id)
        guard let node = nodes[nodeID] else { return }
        guard node.subscribers.isEmpty else { return updatePriority(of: nodeID, &actions) }
        nodes[nodeID] = nil
        running[node.key] = nil
        actions.append(.cancel(nodeID))
        for dependency in node.dependencies { leave(dependency, &actions) }
        forgetReports(of: nodeID, &actions)
    }

    private mutating func updatePriority(of nodeID: NodeID, _ actions: inout [Action]) {
        guard let node = nodes[nodeID] else { return }
        let highest = node.subscribers.compactMap { subscriptions[$0]?.priority }.max() ?? node.priority
        guard highest != node.priority else { return }
        nodes[nodeID]?.priority = highest
        actions.append(.setPriority(nodeID, highest, version: makeID()))
        for dependency in node.dependencies {
            subscriptions[dependency]?.priority = highest
            if let next = subscriptions[dependency]?.node { updatePriority(of: next, &actions) }
        }
    }

    private mutating func report(_ progress: LoadProgress, of nodeID: NodeID, _ actions: inout [Action]) {
        guard let node = nodes[nodeID] else { return }
        self.progress[nodeID] = progress
        for id in node.subscribers { forward(progress, to: id, &actions) }
    }

    private mutating func forward(_ progress: LoadProgress, to id: SubscriptionID, _ actions: inout [Action]) {
        if let parent = subscriptions[id]?.parent {
            report(progress, of: parent, &actions)
        } else {
            actions.append(.progress(id, progress))
        }
    }

    private mutating func note(_ note: Note, of nodeID: NodeID, _ actions: inout [Action]) {
        guard let node = nodes[nodeID] else { return }
        notes[nodeID, default: []].append(note)
        if let count = notes[nodeID]?.count, count > Self.noteLimit, let oldest = notes[nodeID]?.removeFirst() {
            actions.append(.discard([oldest]))
        }
        for id in node.subscribers { forward(note, to: id, &actions) }
    }

    private mutating func forward(_ note: Note, to id: SubscriptionID, _ actions: inout [Action]) {
        if let parent = subscriptions[id]?.parent {
            self.note(note, of: parent, &actions)
        } else {
            actions.append(.note(id, note))
        }
    }

    private mutating func forgetReports(of node: NodeID, _ actions: inout [Action]) {
        if !progress.isEmpty { progress[node] = nil }
        if !notes.isEmpty, let notes = notes.removeValue(forKey: node) { actions.append(.discard(notes)) }
    }
}

/// Numbers other than 0 in the order they were added, the first in place: most nodes have one of each kind.
private struct FewIDs: Sequence, Sendable {
    private var first: UInt64 = 0
    private var others: [UInt64] = []

    var isEmpty: Bool { first == 0 }

    mutating func append(_ id: UInt64) {
        if first == 0 { first = id } else { others.append(id) }
    }

    mutating func remove(_ id: UInt64) {
        if first == id {
            first = others.isEmpty ? 0 : others.removeFirst()
        } else {
            others.removeAll { $0 == id }
        }
    }

    func makeIterator() -> Iterator { Iterator(ids: self) }

    struct Iterator: IteratorProtocol {
        fileprivate let ids: FewIDs
        private var index = -1

        fileprivate init(ids: FewIDs) { self.ids = ids }

        mutating func next() -> UInt64? {
            defer { index += 1 }
            if index < 0 { return ids.first == 0 ? nil : ids.first }
            return index < ids.others.count ? ids.others[index] : nil
        }
    }
}

extension WorkGraph.Action {
    /// Whether it begins work.
    fileprivate var isStart: Bool {
        if case .start = self { return true }
        return false
    }
}
