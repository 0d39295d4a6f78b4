import FoundationEssentials

/// The decoding of one download's bytes: callers that want the same picture of them get one decode, in whichever moment they
/// come.
///
/// Joining and ending happen under one lock, so that nobody falls between them: a caller joins the job under way, or gets
/// what it ended with, which is kept as long as the share; or it starts the job. A job is as urgent as its most urgent
/// caller; when the last one leaves, it is not begun.
final class DecodeShare: Sendable {
    typealias Completion = @Sendable (Result<Image, WebImageError>) -> Void

    private struct Key: Hashable {
        let coder: CoderIdentity
        let options: ImageDecodeOptions
    }

    private struct Caller {
        var priority: LoadPriority
        let completion: Completion
    }

    private struct Job {
        /// Nil for one that nobody can join, because its coder cannot be compared.
        let key: Key?
        var item: AdmittedItem?
        var callers: [UInt64: Caller] = [:]

        var priority: LoadPriority { callers.values.map(\.priority).max() ?? .low }
    }

    private struct State {
        var jobs: [UInt64: Job] = [:]
        var open: [Key: UInt64] = [:]
        var done: [Key: Result<Image, WebImageError>] = [:]
        var nextID: UInt64 = 0
    }

    /// A caller's part in a job.
    struct Seat: Sendable {
        fileprivate let share: DecodeShare
        fileprivate let job: UInt64
        fileprivate let caller: UInt64

        /// The caller gives up; its completion is not called any more, unless that is just happening.
        func leave() { share.leave(job: job, caller: caller) }

        func setPriority(_ priority: LoadPriority) { share.setPriority(priority, job: job, caller: caller) }
    }

    private let queue: WorkQueue
    private let state = Lock(State())

    init(queue: WorkQueue = CodingQueue.shared) { self.queue = queue }

    /// Asks for the picture of `data`, which is the same in all calls.
    ///
    /// - Parameter completion: called once, without a lock being held: on a decode thread, or at once when the picture is there.
    /// - Returns: nil when `completion` has been called.
    func join(
        _ data: Data,
        coder: any ImageCoder,
        options: ImageDecodeOptions,
        priority: LoadPriority,
        completion: @escaping Completion
    ) -> Seat? {
        let identity = CoderIdentity(coder)
        let key = identity.isUnique ? nil : Key(coder: identity, options: options)
        enum Answer {
            case seat(Seat)
            case done(Result<Image, WebImageError>)
        }
        let answer = state.withLock { state -> Answer in
            if let key, let result = state.done[key] { return .done(result) }
            state.nextID += 1
            let caller = state.nextID
            let seated = Caller(priority: priority, completion: completion)
            if let key, let id = state.open[key] {
                state.jobs[id]?.callers[caller] = seated
                Self.updatePriority(of: id, state)
                return .seat(Seat(share: self, job: id, caller: caller))
            }
            state.nextID += 1
            let id = state.nextID
            var job = Job(key: key, callers: [caller: seated])
            let budget = DecodedMemoryBudget.shared
            job.item = queue.submit(.decode(data, coder, options), to: budget, priority: priority) { [self] in
                run(id, data, coder, $0)
            }
            state.jobs[id] = job
            if let key { state.open[key] = id }
            return .seat(Seat(share: self, job: id, caller: caller))
        }
        switch answer {
        case .seat(let seat): return seat
        case .done(let result):
            completion(result)
            return nil
        }
    }

    private func run(
        _ id: UInt64,
        _ data: Data,
        _ coder: any ImageCoder,
        _ admission: Result<DecodeAdmission, WebImageError>
    ) {
        guard state.withLock({ $0.jobs[id] != nil }) else { return }
        let result: Result<Image, WebImageError>
        do throws(WebImageError) {
            let admission = try admission.get()
            let image = try admission.completeImage(of: data, by: coder)
            admission.end(with: image, in: .shared)
            result = .success(image)
        } catch {
            result = .failure(error)
        }
        let job = state.withLock { state -> Job? in
            guard let job = state.jobs.removeValue(forKey: id) else { return nil }
            if let key = job.key {
                state.open[key] = nil
                // Later there may be room for it.
                if case .failure(let error) = result, error.isOfMemoryBudget { return job }
                state.done[key] = result
            }
            return job
        }
        for (_, caller) in (job?.callers ?? [:]).sorted(by: { $0.key < $1.key }) { caller.completion(result) }
    }

    private func leave(job id: UInt64, caller: UInt64) {
        let (left, abandoned) = state.withLock { state -> (Caller?, Job?) in
            guard let left = state.jobs[id]?.callers.removeValue(forKey: caller) else { return (nil, nil) }
            guard state.jobs[id]?.callers.isEmpty ?? false else {
                Self.updatePriority(of: id, state)
                return (left, nil)
            }
            let job = state.jobs.removeValue(forKey: id)
            if let key = job?.key { state.open[key] = nil }
            return (left, job)
        }
        // The closures may own anything: they are let go of outside the lock.
        withExtendedLifetime(left) { _ = abandoned?.item?.cancel() }
    }

    private func setPriority(_ priority: LoadPriority, job id: UInt64, caller: UInt64) {
        state.withLock { state in
            guard state.jobs[id]?.callers[caller] != nil else { return }
            state.jobs[id]?.callers[caller]?.priority = priority
            Self.updatePriority(of: id, state)
        }
    }

    private static func updatePriority(of id: UInt64, _ state: State) {
        guard let job = state.jobs[id] else { return }
        job.item?.setPriority(job.priority)
    }
}
