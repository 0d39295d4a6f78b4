/// A node of a ``WorkGraph``: an object that performs work, with storage for the graph's bookkeeping.
protocol WorkGraphNode: AnyObject, Sendable {
    associatedtype Key: Hashable & Sendable
    /// A subscriber.
    associatedtype Receiver: Sendable
    associatedtype Output: Sendable
    /// A value that work sends before its output.
    associatedtype Value: Sendable
    /// An event of the work for observers, passed on unchanged.
    associatedtype Note: Sendable

    /// Identifies the work. Never changes.
    var key: Key { get }
    /// Returns whether a receiver accepts a value; otherwise the value goes to the subscribers of the receiver's own node.
    static func takes(_ value: Value, _ receiver: Receiver) -> Bool
    /// Returns whether a finished node of this key stays available with its output while nodes that depend on it run.
    static func keeps(_ output: Output, of key: Key) -> Bool
    /// Returns whether a dependent node that ends with `result` has used up kept output: later subscribers then need newer output.
    static func isUsedUp(_ output: Output, by result: Output) -> Bool
    /// Returns a note about the origin of kept output, sent to late subscribers after the note that they joined; nil for none.
    static func summary(of output: Output, after note: Note) -> Note?
    /// The graph's bookkeeping, protected by the lock that protects the graph.
    var links: WorkLinks<Self> { get set }
}

/// The graph's bookkeeping of one node.
struct WorkLinks<Node: WorkGraphNode> {
    /// A subscriber of a node: a caller, or a node that depends on it.
    fileprivate struct Subscriber {
        let number: UInt32
        var priority: LoadPriority
        let parent: Node?
        let receiver: Node.Receiver
        /// True if it has received the output.
        var isServed = false
    }

    fileprivate struct Dependency {
        let node: Node
        let number: UInt32
    }

    /// Rarely used state: reports for late subscribers, and the kept output.
    fileprivate struct Reports {
        var progress: LoadProgress?
        var notes: [Node.Note] = []
        /// The latest value.
        var value: Node.Value?
        /// Another key of the node.
        var alias: Node.Key?
        var output: Node.Output?
    }

    /// The node's latest dependency; stays after the end.
    fileprivate(set) var source: Node?
    fileprivate(set) var isRunning = false
    fileprivate(set) var priority = LoadPriority.normal
    /// True if the node has ended but is still available.
    fileprivate var isKept = false
    fileprivate var version: UInt32 = 0
    fileprivate var lastNumber: UInt32 = 0
    fileprivate var subscribers = FewElements<Subscriber>()
    fileprivate var dependencies = FewElements<Dependency>()
}

/// The bookkeeping of request coalescing: the subscribers of each piece of shared work, its dependencies, and its priority.
///
/// Pure logic: events are method calls, which return the actions for a driver to perform. It starts no threads, calls no closures and
/// holds no lock. A piece of work (a "node") can be joined by its key while it runs. Subscribers are callers, or other nodes that depend
/// on it. A node's priority is the highest of its subscribers'. When the last subscriber leaves, the node is cancelled, and leaves its
/// dependencies.
///
/// A node sends values, and finally its output. A value goes to each subscriber that accepts it; if one does not, the value goes to that
/// one's own subscribers. A node may stay available with its output after its end: until one of the nodes that depend on it ends and has
/// used it up, or all of them have ended or were cancelled.
///
/// The state of a node is stored in it, so that a long queue needs little memory. Each event takes time proportional to the number of
/// subscribers that it affects.
struct WorkGraph<Node: WorkGraphNode> {
    typealias Receiver = Node.Receiver
    private typealias Reports = WorkLinks<Node>.Reports

    /// One subscription of a node.
    struct Subscription: Sendable {
        let node: Node
        fileprivate let number: UInt32
    }

    /// News that a node reports before its output.
    enum News {
        /// Its progress.
        case progress(LoadProgress)
        /// An event.
        case note(Node.Note)
        case value(Node.Value)
    }

    /// The actions that the driver has to perform, in order.
    enum Action: Sendable {
        /// Start the work of a new node.
        case start(Node)
        /// Cancel the work of a node without subscribers.
        case cancel(Node)
        /// Change the priority of a node's work. Of two such actions, the one with the higher version counts, in whatever order
        /// they are performed.
        case setPriority(Node, LoadPriority, version: UInt32)
        /// Report progress to a caller.
        case progress(Receiver, LoadProgress)
        /// Report an event to a caller.
        case note(Receiver, Node.Note)
        /// Send a value to a subscriber. The node is the dependent one, if any.
        case value(Receiver, Node?, Node.Value)
        /// Release notes, a value and an output, which may own any object.
        case discard([Node.Note], Node.Value?, Node.Output?)
        /// Deliver the output to a subscriber, which ends its subscription. The node is the dependent one, if any.
        case deliver(Receiver, Node?, Node.Output)
        /// Release a subscriber that left, or whose dependent node has ended; it receives nothing.
        case forget(Receiver)
    }

    /// The maximum number of notes kept per node.
    static var noteLimit: Int { 16 }

    /// The nodes that can be joined: running and kept ones.
    private var nodes: [Node.Key: Node] = [:]
    private var reports: [ObjectIdentifier: Reports] = [:]
    /// The number of subscriptions that have been neither delivered nor cancelled.
    private(set) var subscriptionCount = 0

    /// The number of running nodes.
    private(set) var nodeCount = 0

    /// Returns the number of callers that wait for a node, directly or through other nodes.
    func callerCount(of node: Node) -> Int {
        node.links.subscribers.reduce(0) { $0 + ($1.parent.map { callerCount(of: $0) } ?? 1) }
    }

    /// Joins the node of `key`, creating it if needed.
    ///
    /// - Parameters:
    ///   - parent: The node that depends on it; its priority replaces `priority`.
    ///   - note: Reported to the subscriber and the callers behind it if the node is running already.
    ///   - make: Creates a node with that priority.
    /// - Returns: Nil if `parent` is not running any more.
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
        // A caller that receives kept output at once does not wait; a dependent node keeps the output while it runs.
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
            // Notes were not created while nobody observed.
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

    /// Makes a running node available under another key, too. Returns false if another node has that key.
    mutating func alias(_ node: Node, as key: Node.Key) -> Bool {
        guard node.links.isRunning else { return true }
        guard nodes[key] == nil else { return false }
        nodes[key] = node
        reports[ObjectIdentifier(node), default: Reports()].alias = key
        return true
    }

    /// Cancels a subscription; nil if it was delivered or cancelled before.
    mutating func unsubscribe(_ subscription: Subscription) -> [Action]? {
        var actions: [Action] = []
        return leave(subscription.node, subscription.number, &actions) ? actions : nil
    }

    /// Changes the priority of one caller.
    mutating func setPriority(_ priority: LoadPriority, of subscription: Subscription) -> [Action] {
        var actions: [Action] = []
        setPriority(priority, subscription.node, subscription.number, &actions)
        return actions
    }

    /// Reports news to the direct and indirect subscribers of a node; a value goes to the first ones on each path that accept it. Later
    /// subscribers receive the latest.
    mutating func tell(_ news: News, of node: Node) -> [Action] {
        var actions: [Action] = []
        tell(news, of: node, &actions)
        return actions
    }

    /// Returns whether any direct or indirect subscriber of a node matches.
    func hasReceiver(of node: Node, where fits: (Receiver) -> Bool) -> Bool {
        guard node.links.isRunning else { return false }
        for subscriber in node.links.subscribers {
            if fits(subscriber.receiver) { return true }
            if let parent = subscriber.parent, hasReceiver(of: parent, where: fits) { return true }
        }
        return false
    }

    /// Ends a node: its subscribers receive `output` in the order in which they joined. Does nothing if it was cancelled before.
    mutating func finish(_ node: Node, with output: Node.Output) -> [Action] {
        guard node.links.isRunning else { return [] }
        var actions: [Action] = []
        let isKept = Node.keeps(output, of: node.key)
        stop(node)
        if !isKept { remove(node) }
        leaveDependencies(of: node, endingWith: output, &actions)
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

    // MARK: Start and end

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

    /// Makes the node unavailable for joining.
    private mutating func remove(_ node: Node) {
        if nodes[node.key] === node { nodes[node.key] = nil }
        guard !reports.isEmpty, let alias = reports[ObjectIdentifier(node)]?.alias else { return }
        if nodes[alias] === node { nodes[alias] = nil }
    }

    private func forgetDependency(on node: Node, _ subscriber: WorkLinks<Node>.Subscriber) {
        subscriber.parent?.links.dependencies.removeFirst { $0.node === node && $0.number == subscriber.number }
    }

    /// Removes a subscriber; false if it was removed before.
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
            leaveDependencies(of: node, endingWith: nil, &actions)
        }
        discardReports(of: node, &actions)
        return true
    }

    /// - Parameter result: The node's output; nil if it was cancelled. Later subscribers to what it has used up need newer output.
    private mutating func leaveDependencies(of node: Node, endingWith result: Node.Output?, _ actions: inout [Action]) {
        for dependency in node.links.dependencies.removeAll() {
            if let result, dependency.node.links.isKept, let kept = reports[ObjectIdentifier(dependency.node)]?.output,
                Node.isUsedUp(kept, by: result)
            {
                remove(dependency.node)
            }
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
    /// Keeps news for late subscribers; returns the replaced ones for release.
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
