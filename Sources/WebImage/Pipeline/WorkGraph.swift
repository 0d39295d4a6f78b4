/// What a ``WorkGraph`` is made of: something that does work, with a place for the graph's bookkeeping.
protocol WorkGraphNode: AnyObject, Sendable {
    associatedtype Key: Hashable & Sendable
    /// Who waits.
    associatedtype Receiver: Sendable
    associatedtype Output: Sendable
    /// Something that happened to work, for those who observe it; passed on as it is.
    associatedtype Note: Sendable

    /// Names the work. Never changes.
    var key: Key { get }
    /// The graph's, and guarded by whatever guards the graph.
    var links: WorkLinks<Self> { get set }
}

/// What a graph knows of one of its nodes.
struct WorkLinks<Node: WorkGraphNode> {
    /// Somebody who waits for a node: a caller, or a node that depends on it.
    fileprivate struct Subscriber {
        let number: UInt32
        var priority: LoadPriority
        let parent: Node?
        let receiver: Node.Receiver
    }

    fileprivate struct Dependency {
        let node: Node
        let number: UInt32
    }

    /// What few nodes have reported, for those who join late.
    fileprivate struct Reports {
        var progress: LoadProgress?
        var notes: [Node.Note] = []
    }

    fileprivate(set) var isRunning = false
    fileprivate(set) var priority = LoadPriority.normal
    fileprivate var version: UInt32 = 0
    fileprivate var lastNumber: UInt32 = 0
    fileprivate var subscribers = FewElements<Subscriber>()
    fileprivate var dependencies = FewElements<Dependency>()

    init() {}
}

/// Who waits for which piece of shared work, what it depends on, and how urgent it is.
///
/// Pure bookkeeping: events go in as method calls, and out come the actions that a driver has to perform. It starts no
/// threads, calls nobody and holds no lock. A piece of work ("node") is found by its key as long as it runs. Subscribers
/// are callers, or other nodes that depend on it. A node's priority is the highest of its subscribers'; when the last one
/// leaves, the node is cancelled, and leaves what it depends on.
///
/// What is known of a node is kept in it, so that a long queue takes little memory. Cost: each event takes time in proportion to the
/// subscribers it touches.
struct WorkGraph<Node: WorkGraphNode> {
    typealias Receiver = Node.Receiver
    private typealias Reports = WorkLinks<Node>.Reports

    /// A place among those who wait for a node.
    struct Subscription: Sendable {
        let node: Node
        fileprivate let number: UInt32
    }

    /// What the driver has to do, in order.
    enum Action: Sendable {
        /// Begin the work of a new node.
        case start(Node)
        /// Give up the work of a node that nobody waits for any more.
        case cancel(Node)
        /// Tell the work of a node how urgent it is now. Of two such actions the one with the higher version counts,
        /// in whatever order drivers get to them.
        case setPriority(Node, LoadPriority, version: UInt32)
        /// Tell a caller how far it is.
        case progress(Receiver, LoadProgress)
        /// Tell a caller what happened.
        case note(Receiver, Node.Note)
        /// Let go of notes; they may own anything.
        case discard([Node.Note])
        /// Give a subscriber the outcome; it is none any more. The node is the one that depends on it, if any.
        case deliver(Receiver, Node?, Node.Output)
        /// Forget a subscriber that left, or whose dependent has ended; it gets nothing.
        case forget(Receiver)
    }

    /// How many notes a node keeps.
    static var noteLimit: Int { 16 }

    private var running: [Node.Key: Node] = [:]
    private var reports: [ObjectIdentifier: Reports] = [:]
    /// Subscriptions that have not been delivered or given up.
    private(set) var subscriptionCount = 0

    /// Nodes that run.
    var nodeCount: Int { running.count }

    /// Who waits for a running node, in the order they came.
    func receivers(of node: Node) -> [Receiver] { node.links.subscribers.map(\.receiver) }

    /// Joins the node of `key`, making it if there is none.
    ///
    /// - Parameters:
    ///   - parent: the node that depends on it; its priority counts, and `priority` does not.
    ///   - note: what the subscriber and those behind it are told if the node runs already.
    ///   - make: makes a node with that priority.
    /// - Returns: nil if `parent` does not run any more.
    mutating func subscribe(
        to key: Node.Key,
        priority: LoadPriority,
        parent: Node? = nil,
        receiver: Receiver,
        joining note: Node.Note? = nil,
        make: (LoadPriority) -> Node
    ) -> (subscription: Subscription, isNew: Bool, actions: [Action])? {
        var priority = priority
        if let parent {
            guard parent.links.isRunning else { return nil }
            priority = parent.links.priority
        }
        var actions: [Action] = []
        let existing = running[key]
        let node = existing ?? begin(make(priority), priority)
        if existing == nil { actions.append(.start(node)) }
        node.links.lastNumber &+= 1
        let number = node.links.lastNumber
        node.links.subscribers.append(
            WorkLinks.Subscriber(number: number, priority: priority, parent: parent, receiver: receiver)
        )
        subscriptionCount += 1
        parent?.links.dependencies.append(WorkLinks.Dependency(node: node, number: number))
        if existing != nil {
            updatePriority(of: node, &actions)
            if let note { forward(note, receiver, parent, &actions) }
            if let reports = reports[ObjectIdentifier(node)] {
                for note in reports.notes { forward(note, receiver, parent, &actions) }
                if let progress = reports.progress { forward(progress, receiver, parent, &actions) }
            }
        }
        return (Subscription(node: node, number: number), existing == nil, actions)
    }

    /// Leaves; nil if the subscription had been delivered or left before.
    mutating func unsubscribe(_ subscription: Subscription) -> [Action]? {
        var actions: [Action] = []
        return leave(subscription.node, subscription.number, &actions) ? actions : nil
    }

    /// Changes how urgent the work is for one caller.
    mutating func setPriority(_ priority: LoadPriority, of subscription: Subscription) -> [Action] {
        var actions: [Action] = []
        setPriority(priority, subscription.node, subscription.number, &actions)
        return actions
    }

    /// Tells everyone who waits for the node, directly or through others, how far it is.
    mutating func report(_ progress: LoadProgress, of node: Node) -> [Action] {
        var actions: [Action] = []
        report(progress, of: node, &actions)
        return actions
    }

    /// Tells everyone who waits for the node, directly or through others, what happened to it, and those who join later.
    mutating func note(_ note: Node.Note, of node: Node) -> [Action] {
        var actions: [Action] = []
        self.note(note, of: node, &actions)
        return actions
    }

    /// Ends a node: its subscribers get `output` in the order they came. Nothing if it was cancelled before.
    mutating func finish(_ node: Node, with output: Node.Output) -> [Action] {
        guard node.links.isRunning else { return [] }
        var actions: [Action] = []
        end(node)
        leaveDependencies(of: node, &actions)
        for subscriber in node.links.subscribers.removeAll() {
            subscriptionCount -= 1
            subscriber.parent?.links.dependencies.removeFirst { $0.node === node && $0.number == subscriber.number }
            actions.append(.deliver(subscriber.receiver, subscriber.parent, output))
        }
        discardReports(of: node, &actions)
        return actions
    }

    // MARK: Beginning and ending

    private mutating func begin(_ node: Node, _ priority: LoadPriority) -> Node {
        node.links.isRunning = true
        node.links.priority = priority
        running[node.key] = node
        return node
    }

    private mutating func end(_ node: Node) {
        node.links.isRunning = false
        running[node.key] = nil
    }

    /// False if the subscriber was not there any more.
    @discardableResult
    private mutating func leave(_ node: Node, _ number: UInt32, _ actions: inout [Action]) -> Bool {
        guard let subscriber = node.links.subscribers.removeFirst(where: { $0.number == number }) else { return false }
        subscriptionCount -= 1
        actions.append(.forget(subscriber.receiver))
        subscriber.parent?.links.dependencies.removeFirst { $0.node === node && $0.number == number }
        guard node.links.subscribers.isEmpty else {
            updatePriority(of: node, &actions)
            return true
        }
        end(node)
        actions.append(.cancel(node))
        leaveDependencies(of: node, &actions)
        discardReports(of: node, &actions)
        return true
    }

    private mutating func leaveDependencies(of node: Node, _ actions: inout [Action]) {
        for dependency in node.links.dependencies.removeAll() { leave(dependency.node, dependency.number, &actions) }
    }

    private mutating func discardReports(of node: Node, _ actions: inout [Action]) {
        guard !reports.isEmpty, let reports = reports.removeValue(forKey: ObjectIdentifier(node)) else { return }
        if !reports.notes.isEmpty { actions.append(.discard(reports.notes)) }
    }

    // MARK: Priority

    private func setPriority(_ priority: LoadPriority, _ node: Node, _ number: UInt32, _ actions: inout [Action]) {
        node.links.subscribers.changeFirst(where: { $0.number == number }) { $0.priority = priority }
        updatePriority(of: node, &actions)
    }

    private func updatePriority(of node: Node, _ actions: inout [Action]) {
        guard let highest = node.links.subscribers.map(\.priority).max(), highest != node.links.priority else { return }
        node.links.priority = highest
        node.links.version &+= 1
        actions.append(.setPriority(node, highest, version: node.links.version))
        for dependency in node.links.dependencies { setPriority(highest, dependency.node, dependency.number, &actions) }
    }

    // MARK: Reports

    private mutating func report(_ progress: LoadProgress, of node: Node, _ actions: inout [Action]) {
        guard node.links.isRunning else { return }
        reports[ObjectIdentifier(node), default: Reports()].progress = progress
        for subscriber in node.links.subscribers { forward(progress, subscriber.receiver, subscriber.parent, &actions) }
    }

    private mutating func forward(
        _ progress: LoadProgress,
        _ receiver: Receiver,
        _ parent: Node?,
        _ actions: inout [Action]
    ) {
        if let parent { report(progress, of: parent, &actions) } else { actions.append(.progress(receiver, progress)) }
    }

    private mutating func note(_ note: Node.Note, of node: Node, _ actions: inout [Action]) {
        guard node.links.isRunning else { return }
        var kept = reports[ObjectIdentifier(node)] ?? Reports()
        kept.notes.append(note)
        if kept.notes.count > Self.noteLimit { actions.append(.discard([kept.notes.removeFirst()])) }
        reports[ObjectIdentifier(node)] = kept
        for subscriber in node.links.subscribers { forward(note, subscriber.receiver, subscriber.parent, &actions) }
    }

    private mutating func forward(_ note: Node.Note, _ receiver: Receiver, _ parent: Node?, _ actions: inout [Action]) {
        if let parent { self.note(note, of: parent, &actions) } else { actions.append(.note(receiver, note)) }
    }
}
