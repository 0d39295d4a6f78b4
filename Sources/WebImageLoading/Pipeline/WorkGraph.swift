/// What a ``WorkGraph`` is made of: something that does work, with a place for the graph's bookkeeping.
protocol WorkGraphNode: AnyObject, Sendable {
    associatedtype Key: Hashable & Sendable
    /// Who waits.
    associatedtype Receiver: Sendable
    associatedtype Output: Sendable
    /// Something that work sends before its output.
    associatedtype Value: Sendable
    /// Something that happened to work, for those who observe it; passed on as it is.
    associatedtype Note: Sendable

    /// Names the work. Never changes.
    var key: Key { get }
    /// Whether a receiver takes a value; one that does not passes it on to those who wait for its own node.
    static func takes(_ value: Value, _ receiver: Receiver) -> Bool
    /// Whether a node of this key is found with its output as long as nodes that depend on it run.
    static func keeps(_ output: Output, of key: Key) -> Bool
    /// What one who gets kept output is told of how it came, after the note that it joined; nil for nothing.
    static func summary(of output: Output, after note: Note) -> Note?
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
        /// Whether it has the output.
        var isServed = false
    }

    fileprivate struct Dependency {
        let node: Node
        let number: UInt32
    }

    /// What few nodes have: reports for those who join late, and what is found after the end.
    fileprivate struct Reports {
        var progress: LoadProgress?
        var notes: [Node.Note] = []
        /// The newest.
        var value: Node.Value?
        /// Another key that the node is found by.
        var alias: Node.Key?
        var output: Node.Output?
    }

    /// What the node depended on last; stays after the end.
    fileprivate(set) var source: Node?
    fileprivate(set) var isRunning = false
    fileprivate(set) var priority = LoadPriority.normal
    /// Whether the node has ended and is still found.
    fileprivate var isKept = false
    fileprivate var version: UInt32 = 0
    fileprivate var lastNumber: UInt32 = 0
    fileprivate var subscribers = FewElements<Subscriber>()
    fileprivate var dependencies = FewElements<Dependency>()
}

/// Who waits for which piece of shared work, what it depends on, and how urgent it is.
///
/// Pure bookkeeping: events go in as method calls, and out come the actions that a driver has to perform. It starts no
/// threads, calls nobody and holds no lock. A piece of work ("node") is found by its key as long as it runs. Subscribers
/// are callers, or other nodes that depend on it. A node's priority is the highest of its subscribers'; when the last one
/// leaves, the node is cancelled, and leaves what it depends on.
///
/// A node sends values, and at last its output. A value goes to the subscribers that take it; past those that do not, to whoever waits
/// for them. A node may be found after its end, with its output: until the first of the nodes that depend on it ends, or all of them are
/// cancelled.
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

    /// Something that a node tells before its output.
    enum News {
        /// How far it is.
        case progress(LoadProgress)
        /// What happened.
        case note(Node.Note)
        case value(Node.Value)
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
        /// Give a subscriber a value. The node is the one that depends on it, if any.
        case value(Receiver, Node?, Node.Value)
        /// Release notes, a value and an output; they may own anything.
        case discard([Node.Note], Node.Value?, Node.Output?)
        /// Give a subscriber the outcome; it is none any more. The node is the one that depends on it, if any.
        case deliver(Receiver, Node?, Node.Output)
        /// Forget a subscriber that left, or whose dependent has ended; it gets nothing.
        case forget(Receiver)
    }

    /// How many notes a node keeps.
    static var noteLimit: Int { 16 }

    /// Nodes that are found: those that run, and those that are kept.
    private var nodes: [Node.Key: Node] = [:]
    private var reports: [ObjectIdentifier: Reports] = [:]
    /// Subscriptions that have not been delivered or given up.
    private(set) var subscriptionCount = 0

    /// Nodes that run.
    private(set) var nodeCount = 0

    /// Callers that wait for a node, directly or through others.
    func callerCount(of node: Node) -> Int {
        node.links.subscribers.reduce(0) { $0 + ($1.parent.map { callerCount(of: $0) } ?? 1) }
    }

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
        let existing = nodes[key]
        let node = existing ?? begin(make(priority), priority)
        if existing == nil { actions.append(.start(node)) }
        let output = node.links.isKept ? reports[ObjectIdentifier(node)]?.output : nil
        node.links.lastNumber &+= 1
        let number = node.links.lastNumber
        // A caller who gets kept output at once does not wait; a node that does keeps the output as long as it runs.
        if output == nil || parent != nil {
            node.links.subscribers.append(
                WorkLinks.Subscriber(
                    number: number,
                    priority: priority,
                    parent: parent,
                    receiver: receiver,
                    isServed: output != nil
                )
            )
            parent?.links.dependencies.append(WorkLinks.Dependency(node: node, number: number))
        }
        if output == nil {
            subscriptionCount += 1
            parent?.links.source = node
        }
        if existing != nil {
            if output == nil { updatePriority(of: node, &actions) }
            if let note { forward(.note(note), receiver, parent, &actions) }
            // While nobody observed, no notes were made.
            if let output, let note, reports[ObjectIdentifier(node)]?.notes.isEmpty ?? true,
                let summary = Node.summary(of: output, after: note)
            {
                forward(.note(summary), receiver, parent, &actions)
            }
            forwardReports(of: node, receiver, parent, &actions)
        }
        if let output { actions.append(.deliver(receiver, parent, output)) }
        return (Subscription(node: node, number: number), existing == nil, actions)
    }

    /// Lets a running node be found by another key, too. False if there is another node with that key.
    mutating func alias(_ node: Node, as key: Node.Key) -> Bool {
        guard node.links.isRunning else { return true }
        guard nodes[key] == nil else { return false }
        nodes[key] = node
        reports[ObjectIdentifier(node), default: Reports()].alias = key
        return true
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

    /// Tells those who wait for the node, directly or through others: of a value, the first on each way who take it. Who joins later is
    /// told the latest.
    mutating func tell(_ news: News, of node: Node) -> [Action] {
        var actions: [Action] = []
        tell(news, of: node, &actions)
        return actions
    }

    /// Whether anybody who waits for the node, directly or through others, fits.
    func hasReceiver(of node: Node, where fits: (Receiver) -> Bool) -> Bool {
        guard node.links.isRunning else { return false }
        for subscriber in node.links.subscribers {
            if fits(subscriber.receiver) { return true }
            if let parent = subscriber.parent, hasReceiver(of: parent, where: fits) { return true }
        }
        return false
    }

    /// Ends a node: its subscribers get `output` in the order they came. Nothing if it was cancelled before.
    mutating func finish(_ node: Node, with output: Node.Output) -> [Action] {
        guard node.links.isRunning else { return [] }
        var actions: [Action] = []
        let isKept = Node.keeps(output, of: node.key)
        stop(node)
        if !isKept { remove(node) }
        leaveDependencies(of: node, isDone: true, &actions)
        for var subscriber in node.links.subscribers.removeAll() {
            subscriptionCount -= 1
            actions.append(.deliver(subscriber.receiver, subscriber.parent, output))
            if isKept, subscriber.parent != nil {
                subscriber.isServed = true
                node.links.subscribers.append(subscriber)
            } else {
                forgetDependency(on: node, subscriber)
            }
        }
        guard node.links.subscribers.isEmpty else {
            node.links.isKept = true
            reports[ObjectIdentifier(node), default: Reports()].output = output
            return actions
        }
        if isKept { remove(node) }
        discardReports(of: node, &actions)
        return actions
    }

    // MARK: Beginning and ending

    private mutating func begin(_ node: Node, _ priority: LoadPriority) -> Node {
        nodeCount += 1
        node.links.isRunning = true
        node.links.priority = priority
        nodes[node.key] = node
        return node
    }

    private mutating func stop(_ node: Node) {
        nodeCount -= 1
        node.links.isRunning = false
    }

    /// Nobody finds the node any more.
    private mutating func remove(_ node: Node) {
        if nodes[node.key] === node { nodes[node.key] = nil }
        guard !reports.isEmpty, let alias = reports[ObjectIdentifier(node)]?.alias else { return }
        if nodes[alias] === node { nodes[alias] = nil }
    }

    private func forgetDependency(on node: Node, _ subscriber: WorkLinks<Node>.Subscriber) {
        subscriber.parent?.links.dependencies.removeFirst { $0.node === node && $0.number == subscriber.number }
    }

    /// False if the subscriber was not there any more.
    @discardableResult
    private mutating func leave(_ node: Node, _ number: UInt32, _ actions: inout [Action]) -> Bool {
        guard let subscriber = node.links.subscribers.removeFirst(where: { $0.number == number }) else { return false }
        if !subscriber.isServed {
            subscriptionCount -= 1
            actions.append(.forget(subscriber.receiver))
        }
        forgetDependency(on: node, subscriber)
        guard node.links.subscribers.isEmpty else {
            updatePriority(of: node, &actions)
            return true
        }
        remove(node)
        if node.links.isRunning {
            stop(node)
            actions.append(.cancel(node))
            leaveDependencies(of: node, isDone: false, &actions)
        }
        discardReports(of: node, &actions)
        return true
    }

    /// - Parameter isDone: whether the node has used what it depends on, so that those who come now have to ask for newer.
    private mutating func leaveDependencies(of node: Node, isDone: Bool, _ actions: inout [Action]) {
        for dependency in node.links.dependencies.removeAll() {
            if isDone, dependency.node.links.isKept { remove(dependency.node) }
            leave(dependency.node, dependency.number, &actions)
        }
    }

    private mutating func discardReports(of node: Node, _ actions: inout [Action]) {
        guard !reports.isEmpty, let former = reports.removeValue(forKey: ObjectIdentifier(node)) else { return }
        guard former.output != nil || former.value != nil || !former.notes.isEmpty else { return }
        actions.append(.discard(former.notes, former.value, former.output))
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

    // MARK: News

    private mutating func tell(_ news: News, of node: Node, _ actions: inout [Action]) {
        guard node.links.isRunning else { return }
        if let former = reports[ObjectIdentifier(node), default: Reports()].keep(news) { actions.append(former) }
        for subscriber in node.links.subscribers { forward(news, subscriber.receiver, subscriber.parent, &actions) }
    }

    private mutating func forward(_ news: News, _ receiver: Receiver, _ parent: Node?, _ actions: inout [Action]) {
        if case .value(let value) = news, Node.takes(value, receiver) {
            return actions.append(.value(receiver, parent, value))
        }
        if let parent { return tell(news, of: parent, &actions) }
        switch news {
        case .progress(let progress): actions.append(.progress(receiver, progress))
        case .note(let note): actions.append(.note(receiver, note))
        case .value: break
        }
    }

    private mutating func forwardReports(
        of node: Node,
        _ receiver: Receiver,
        _ parent: Node?,
        _ actions: inout [Action]
    ) {
        guard let reports = reports[ObjectIdentifier(node)] else { return }
        for note in reports.notes { forward(.note(note), receiver, parent, &actions) }
        if let progress = reports.progress { forward(.progress(progress), receiver, parent, &actions) }
        if let value = reports.value { forward(.value(value), receiver, parent, &actions) }
    }
}

extension WorkLinks.Reports {
    /// Keeps news for those who join late; what they replace is to be released.
    fileprivate mutating func keep(_ news: WorkGraph<Node>.News) -> WorkGraph<Node>.Action? {
        switch news {
        case .progress(let progress): self.progress = progress
        case .note(let note):
            notes.append(note)
            if notes.count > WorkGraph<Node>.noteLimit { return .discard([notes.removeFirst()], nil, nil) }
        case .value(let value):
            defer { self.value = value }
            return self.value.map { .discard([], $0, nil) }
        }
        return nil
    }
}
