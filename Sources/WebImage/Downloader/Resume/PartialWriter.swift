import FoundationEssentials

/// Takes the bytes of one body that is under way, from any thread, to the file that keeps them; the writing is done on the
/// store's queue.
///
/// The file is made with the first bytes. It is locked until it is closed, and stays unless it is removed.
final class PartialWriter: @unchecked Sendable {
    // Sendable because `file` and `isOver` are only touched in jobs of the store's queue, one at a time, and in `deinit`;
    // everything else is constant or a lock.

    private enum End { case close, remove }

    private struct Inbox {
        var bytes: Data?
        var end: End?
        var completions: [@Sendable () -> Void] = []
        var hasJob = false
    }

    let head: PartialHead
    private let store: PartialDownloads
    private let inbox = Lock(Inbox())
    private var file: PartialFile?
    /// Nothing is written any more.
    private var isOver = false

    /// - Parameter file: an open file with the beginning of the same body; nil to make one when there is something to write.
    init(head: PartialHead, file: PartialFile? = nil, store: PartialDownloads) {
        (self.head, self.file, self.store) = (head, file, store)
    }

    deinit {
        if let file { store.close(file, name: head.key.fileName) }
    }

    // MARK: From any thread

    /// Writes what is new.
    ///
    /// - Parameter bytes: all of the body so far; they must not change any more. If more come before these are written, only those
    ///   are.
    func save(_ bytes: Data) { post { $0.bytes = bytes } }

    /// Writes what is new and closes the file. Others may have it when `completion` is called, on the store's queue.
    func close(saving bytes: Data? = nil, completion: (@Sendable () -> Void)? = nil) {
        post { inbox in
            if let bytes { inbox.bytes = bytes }
            if inbox.end == nil { inbox.end = .close }
            if let completion { inbox.completions.append(completion) }
        }
    }

    /// Removes the file; nothing is written afterwards.
    func remove() { post { $0.end = .remove } }

    private func post(_ change: (inout Inbox) -> Void) {
        let needsJob = inbox.withLock { inbox -> Bool in
            change(&inbox)
            defer { inbox.hasJob = true }
            return !inbox.hasJob
        }
        if needsJob { store.queue.submit { self.work() } }
    }

    // MARK: On the queue

    private func work() {
        let mail = inbox.withLock { inbox -> Inbox in
            defer { (inbox.bytes, inbox.completions, inbox.hasJob) = (nil, [], false) }
            return inbox
        }
        if mail.end == .remove {
            discard()
        } else if let bytes = mail.bytes, !isOver {
            write(bytes)
        }
        if mail.end == .close, let file {
            isOver = true
            self.file = nil
            file.close()
            store.noteClose(of: head.key.fileName)
        }
        for completion in mail.completions { completion() }
    }

    private func write(_ bytes: Data) {
        let name = head.key.fileName
        guard store.admits(byteCount: bytes.count + PartialHead.byteCount) else { return discard() }
        do throws(SystemCallError) {
            if file == nil { file = try store.makeFile(name) }
            // Somebody else writes it.
            guard let file else {
                isOver = true
                return
            }
            guard store.makeRoom(for: name, byteCount: bytes.count + PartialHead.byteCount) else { return discard() }
            let now = store.clock.wallTime()
            let failure = bytes.withUnsafeBytes { bytes -> SystemCallError? in
                do throws(SystemCallError) { try file.write(bytes, head: head, now: now) } catch { return error }
                return nil
            }
            if failure != nil { discard() }
        } catch {
            discard()
        }
    }

    private func discard() {
        isOver = true
        guard let file else { return }
        file.remove()
        file.close()
        self.file = nil
        store.noteRemoval(of: head.key.fileName)
    }
}
