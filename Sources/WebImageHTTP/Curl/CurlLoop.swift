import CCurl
import CLinux
import Glibc

/// The event loop that drives libcurl on one thread: it takes commands from an inbox, lets libcurl work, hands out finished
/// transfers, and sleeps in `curl_multi_poll`.
final class CurlLoop: @unchecked Sendable {
    // Sendable because `inbox` is a lock, `multi` is used outside the thread only for `curl_multi_wakeup`, which libcurl allows,
    // and only after the thread has set it and said under the lock that it polls, and everything else is accessed only by the
    // thread, or in `deinit` when there is no thread.

    private enum Command {
        case start(CurlTransfer)
        case cancel(CurlTransfer)
    }

    private struct Inbox {
        var commands: [Command] = []
        var hasThread = false
        var isPolling = false
        var isWoken = false
        var isStopped = false

        /// Returns true if the thread sleeps and nothing has woken it yet: only then is the system call needed.
        mutating func noteWakeUp() -> Bool {
            guard isPolling, !isWoken else { return false }
            isWoken = true
            return true
        }
    }

    private static let mostIdleHandles = 64

    private let inbox = Lock(Inbox())
    /// Opened by the thread, so that a program without transfers neither loads nor initializes libcurl.
    private var multi: UnsafeMutableRawPointer?
    private let maximumIdleConnectionCount: Int
    private let clock: ClockSource
    private let resolver: HostResolver?
    /// Outlives the connections, which `deinit` closes.
    let watchdog: CurlWatchdog
    private var active: [UnsafeMutableRawPointer: CurlTransfer] = [:]
    private var idleHandles: [CurlHandle] = []
    private var lastHeaders: CurlHeaderList?
    private var finishing: [CurlTransfer] = []
    private var cookies: UnsafeMutableRawPointer?
    private var nextCheck = UInt64.max
    /// The time of the current iteration; only for the loop's thread.
    private(set) var now: UInt64 = 0

    init(
        clock: ClockSource,
        maximumIdleConnectionCount: Int,
        resolver: HostResolver? = nil,
        delays: DelaySource = .system
    ) {
        self.clock = clock
        self.maximumIdleConnectionCount = maximumIdleConnectionCount
        watchdog = CurlWatchdog(delays: delays)
        self.resolver = resolver
    }

    deinit {
        lastHeaders = nil
        idleHandles = []
        if let multi { curl_multi_cleanup(multi) }
        if let cookies { curl_share_cleanup(cookies) }
    }

    // MARK: From any thread

    /// Starts a transfer; false once the loop has been stopped.
    func start(_ transfer: CurlTransfer) -> Bool { post(.start(transfer)) }

    func cancel(_ transfer: CurlTransfer) { _ = post(.cancel(transfer)) }

    /// Ends the thread after the running transfers have ended.
    func stop() {
        let sleeps = inbox.withLock { inbox in
            inbox.isStopped = true
            return inbox.noteWakeUp()
        }
        if sleeps { wake() }
    }

    private func post(_ command: Command) -> Bool {
        let (isAccepted, needsThread, sleeps) = inbox.withLock { inbox -> (Bool, Bool, Bool) in
            if case .start = command, inbox.isStopped { return (false, false, false) }
            inbox.commands.append(command)
            let needsThread = !inbox.hasThread
            inbox.hasThread = true
            return (true, needsThread, inbox.noteWakeUp())
        }
        if needsThread { startThread() }
        if sleeps { wake() }
        return isAccepted
    }

    /// Wakes the thread. The lock must not be held: the thread needs it first of all, and would wait for it again.
    private func wake() {
        if let multi { curl_multi_wakeup(multi) }
    }

    private func startThread() {
        if DetachedThread.start(name: "webimage-curl", { self.run() }) { return }
        giveUp(WebImageError(.transportFailed, "could not start a thread for the transfer"))
    }

    /// Ends the transfers that wait for the thread, which is not there. The next transfer tries again.
    private func giveUp(_ error: WebImageError) {
        let commands = inbox.withLock { inbox -> [Command] in
            inbox.hasThread = false
            return take(&inbox)
        }
        for case .start(let transfer) in commands { transfer.finish(with: error) }
    }

    // MARK: The thread

    private func run() {
        blockSignals()
        guard openMulti() else { return giveUp(Self.noMemory) }
        while let commands = nextCommands() {
            now = clock.monotonicNanoseconds()
            for command in commands {
                switch command {
                case .start(let transfer): add(transfer)
                case .cancel(let transfer): remove(transfer)
                }
            }
            var running: Int32 = 0
            watchdog.callBegins()
            curl_multi_perform(multi, &running)
            collectFinished(cutOff: watchdog.callEnds())
            expire()
        }
    }

    /// Signals belong to the program and must not be delivered on this thread; OpenSSL's writes would raise SIGPIPE.
    private func blockSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }

    private func openMulti() -> Bool {
        if multi != nil { return true }
        // This must come before any other call to libcurl, which would initialize itself with another allocator.
        guard CurlHandle.isLibraryReady, let opened = curl_multi_init() else { return false }
        webimage_curl_multi_set_long(opened, CURLMOPT_MAXCONNECTS, maximumIdleConnectionCount)
        multi = opened
        return true
    }

    private static let noMemory = WebImageError(.outOfMemory, "not enough memory for the transfer")

    /// Waits for commands or network events; nil when the thread should end.
    private func nextCommands() -> [Command]? {
        let (commands, mustEnd) = inbox.withLock { inbox -> ([Command], Bool) in
            if !inbox.commands.isEmpty { return (take(&inbox), false) }
            if inbox.isStopped, active.isEmpty {
                inbox.hasThread = false
                return ([], true)
            }
            inbox.isPolling = true
            return ([], false)
        }
        if mustEnd { return nil }
        if !commands.isEmpty { return commands }
        curl_multi_poll(multi, nil, 0, pollMilliseconds, nil)
        return inbox.withLock { inbox in
            inbox.isPolling = false
            inbox.isWoken = false
            return take(&inbox)
        }
    }

    private func take(_ inbox: inout Inbox) -> [Command] {
        defer { inbox.commands = [] }
        return inbox.commands
    }

    private var pollMilliseconds: Int32 {
        guard nextCheck != .max else { return 60_000 }
        let time = clock.monotonicNanoseconds()
        guard nextCheck > time else { return 0 }
        return Int32(min((nextCheck - time) / 1_000_000 + 1, 60_000))
    }

    private func add(_ transfer: CurlTransfer) {
        guard let multi, let handle = idleHandles.popLast() ?? CurlHandle() else {
            return transfer.finish(with: Self.noMemory)
        }
        if lastHeaders?.serves(transfer.request) != true {
            lastHeaders = CurlHeaderList(transfer.request)
        }
        guard let headers = lastHeaders else { return }
        let isConfigured = handle.configure(
            for: transfer.request,
            headers: headers,
            cookies: transfer.request.handlesCookies ? cookieStore() : nil,
            watchdog: watchdog,
            context: Unmanaged.passUnretained(transfer).toOpaque()
        )
        guard isConfigured else {
            return transfer.finish(with: WebImageError(.outOfMemory, "not enough memory for the request's body"))
        }
        if let resolver { handle.pin(transfer.request.url, by: resolver) }
        transfer.handle = handle
        transfer.timer = TransferTimer(limits: TransferTimer.Limits(transfer.request), now: now)
        noteDeadline(transfer.timer.nextDeadline)
        active[handle.easy] = transfer
        let code = curl_multi_add_handle(multi, handle.easy)
        guard code != CURLM_OK else { return }
        active[handle.easy] = nil
        transfer.handle = nil
        transfer.finish(with: WebImageError(.transportFailed, String(cString: curl_multi_strerror(code))))
    }

    private func cookieStore() -> UnsafeMutableRawPointer? {
        if cookies == nil {
            cookies = curl_share_init()
            if let cookies { webimage_curl_share_cookies(cookies) }
        }
        return cookies
    }

    private func remove(_ transfer: CurlTransfer) {
        transfer.detach()
        release(transfer)
    }

    /// Removes the transfer from the loop and recycles its handle.
    private func release(_ transfer: CurlTransfer) {
        guard let multi, let handle = transfer.handle else { return }
        transfer.handle = nil
        active[handle.easy] = nil
        curl_multi_remove_handle(multi, handle.easy)
        if handle.isRecyclable, idleHandles.count < Self.mostIdleHandles { idleHandles.append(handle) }
    }

    /// Notifies the sink of the end after libcurl's callback has returned.
    func finishSoon(_ transfer: CurlTransfer) { finishing.append(transfer) }

    /// - Parameter cutOff: local ports of connections that the watchdog has shut down in the meantime.
    private func collectFinished(cutOff: Set<Int>) {
        while let transfer = finishing.popLast() { transfer.finish(with: nil) }
        guard let multi else { return }
        var easy: UnsafeMutableRawPointer?
        var result = CURLE_OK
        while webimage_curl_next_finished(multi, &easy, &result) != 0 {
            guard let handle = easy, let transfer = active[handle] else { continue }
            transfer.finish(result, cutOff: cutOff)
            release(transfer)
        }
    }

    // MARK: Time

    /// Schedules a check of the deadlines at `deadline` at the latest.
    func noteDeadline(_ deadline: UInt64) { nextCheck = min(nextCheck, deadline) }

    private func expire() {
        guard nextCheck != .max else { return }
        let time = clock.monotonicNanoseconds()
        guard time >= nextCheck else { return }
        nextCheck = .max
        for transfer in Array(active.values) {
            guard let expiry = transfer.timer.check(at: time) else {
                noteDeadline(transfer.timer.nextDeadline)
                continue
            }
            transfer.finish(with: Self.error(expiry, limits: transfer.timer.limits))
            release(transfer)
        }
    }

    private static func error(_ expiry: TransferTimer.Expiry, limits: TransferTimer.Limits) -> WebImageError {
        func seconds(_ nanoseconds: UInt64) -> String { "\(Double(nanoseconds) / 1e9) s" }
        let message =
            switch expiry {
            case .idle: "no data received for \(seconds(limits.idle))"
            case .tooSlow:
                "received fewer than \(limits.minimumBytesPerSecond) bytes per second for \(seconds(limits.idle))"
            case .total: "the download took longer than \(seconds(limits.total))"
            }
        return WebImageError(.timedOut, message)
    }
}
