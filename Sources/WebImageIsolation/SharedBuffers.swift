import CIsolation
import Glibc

/// The memory of a worker's bitmaps: each can be handed to the parent as it is.
///
/// Fresh pages cost as much as a decode, so one piece is made ready, on a thread of its own, while a picture is decoded into another.
package final class SharedBuffers: @unchecked Sendable {
    // Sendable because the state is behind a lock, and a piece is touched by whoever has taken it out.

    /// Where bitmaps of this process lie; nil in all processes but workers. Set before there are other threads.
    package nonisolated(unsafe) static var inUse: SharedBuffers?

    /// Smaller ones are copied when they are handed over.
    private static let smallest = 16 << 10
    /// Most bytes that are made ready or kept.
    private static let mostKept = 16 << 20
    /// Most at a time: each takes one of the few descriptors that a worker may have. Bitmaps beyond that lie in other memory, and are copied
    /// when they are handed over.
    static let mostPieces = 6

    private struct Piece {
        let descriptor: Int32
        let base: UnsafeMutableRawPointer
        let byteCount: Int

        func close() {
            munmap(base, byteCount)
            Glibc.close(descriptor)
        }
    }

    private struct State {
        var used: [UnsafeMutableRawPointer: Piece] = [:]
        var spare: [Piece] = []
        /// Bytes of a bitmap that is to be announced.
        var awaited: ClosedRange<Int>?
        /// The one that was.
        var announced: UnsafeMutableRawPointer?
    }

    private let state = Lock(State())
    /// Tells the parent of memory that a picture will lie in.
    private let announce: @Sendable (_ descriptor: Int32, _ byteCount: Int) -> Void
    /// Without timers, which would make calls that a worker may not. What is not prepared is made when it is needed.
    private let preparing = WorkQueue(
        name: "prepare",
        width: 1,
        threads: WorkThreads(source: .system, relief: WorkThreads.shared.relief, delay: DelaySource { _, _ in {} })
    )

    init(announce: @escaping @Sendable (_ descriptor: Int32, _ byteCount: Int) -> Void = { _, _ in }) {
        self.announce = announce
    }

    /// Has the next bitmap that is about as big announced, once; nil for none.
    func await(byteCount: Int?) {
        let range = byteCount.flatMap { $0 >= MemoryMessage.smallestAnnounced ? $0 / 2...$0 : nil }
        state.withLock { ($0.awaited, $0.announced) = (range, nil) }
    }

    /// Memory for a bitmap; nil for one that is to be small, and when there is none.
    func storage(byteCount: Int) -> PixelStorage? {
        guard byteCount >= Self.smallest, let piece = take(byteCount) else { return nil }
        let isAwaited = state.withLock { state -> Bool in
            state.used[piece.base] = piece
            guard let awaited = state.awaited, awaited.contains(byteCount) else { return false }
            (state.awaited, state.announced) = (nil, piece.base)
            return true
        }
        if isAwaited { announce(piece.descriptor, byteCount) }
        return PixelStorage(adopting: piece.base, byteCount: byteCount) { [self] base, _ in giveBack(base) }
    }

    /// Whether the parent knows of the memory of a bitmap.
    package func isAnnounced(_ storage: PixelStorage) -> Bool { state.withLock { $0.announced == storage.base } }

    /// Takes away the memory of a bitmap that nobody will look at any more, and every way to change it. Returns a descriptor, and whether
    /// the parent has one already; nil when there is none.
    ///
    /// - Parameter byteCount: the bytes that are handed over.
    func seal(_ storage: PixelStorage, byteCount: Int) -> (descriptor: Int32, isAnnounced: Bool)? {
        let isAnnounced = isAnnounced(storage)
        let piece = state.withLock { $0.used.removeValue(forKey: storage.base) }
        guard let piece else { return copy(storage, byteCount: byteCount).map { ($0, false) } }
        munmap(piece.base, piece.byteCount)
        // The parent takes no more than it needs. A piece may be twice as big.
        guard byteCount <= piece.byteCount, ftruncate(piece.descriptor, byteCount) == 0 else {
            Glibc.close(piece.descriptor)
            return nil
        }
        return sealed(piece.descriptor).map { ($0, isAnnounced) }
    }

    /// Bytes as memory that cannot be changed.
    func seal(_ bytes: UnsafeRawBufferPointer) -> Int32? {
        let descriptor = webimage_memory_create(bytes.count)
        guard descriptor >= 0 else { return nil }
        guard webimage_memory_write(descriptor, bytes.baseAddress, bytes.count) == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        return sealed(descriptor)
    }

    /// Sees to it that the next bitmap of about that size finds its memory ready.
    func prepare(byteCount: Int) {
        guard byteCount >= Self.smallest, byteCount <= Self.mostKept else { return }
        preparing.submit { [self] in
            let isThere = state.withLock { state in state.spare.contains { Self.suits($0, byteCount) } }
            if !isThere, let piece = make(byteCount) { keep(piece) }
        }
    }

    /// The bytes of a bitmap that stays where it is.
    func copy(_ storage: PixelStorage, byteCount: Int) -> Int32? {
        storage.withUnsafeBytes { seal(UnsafeRawBufferPointer(rebasing: $0.prefix(byteCount))) }
    }

    private func sealed(_ descriptor: Int32) -> Int32? {
        if webimage_memory_seal(descriptor) == 0 { return descriptor }
        Glibc.close(descriptor)
        return nil
    }

    private func take(_ byteCount: Int) -> Piece? {
        let spare = state.withLock { state -> Piece? in
            guard let index = state.spare.firstIndex(where: { Self.suits($0, byteCount) }) else { return nil }
            return state.spare.remove(at: index)
        }
        return spare ?? make(byteCount)
    }

    private static func suits(_ piece: Piece, _ byteCount: Int) -> Bool {
        piece.byteCount >= byteCount && piece.byteCount / 2 <= byteCount
    }

    private func make(_ byteCount: Int) -> Piece? {
        let page = 64 << 10
        guard byteCount < Int.max - page, makeRoom() else { return nil }
        let size = (byteCount + page - 1) & ~(page - 1)
        let descriptor = webimage_memory_create(size)
        guard descriptor >= 0 else { return nil }
        if let base = webimage_memory_map(descriptor, size) {
            return Piece(descriptor: descriptor, base: base, byteCount: size)
        }
        Glibc.close(descriptor)
        return nil
    }

    /// Whether there may be one more; a spare one goes if it has to.
    private func makeRoom() -> Bool {
        let (hasRoom, former) = state.withLock { state -> (Bool, Piece?) in
            guard state.used.count + state.spare.count >= Self.mostPieces else { return (true, nil) }
            return state.spare.isEmpty ? (false, nil) : (true, state.spare.removeFirst())
        }
        former?.close()
        return hasRoom
    }

    /// A bitmap that was not handed over has gone.
    private func giveBack(_ base: UnsafeMutableRawPointer) {
        let piece = state.withLock { state -> Piece? in
            // Other memory may get the same address.
            if state.announced == base { state.announced = nil }
            return state.used.removeValue(forKey: base)
        }
        if let piece { keep(piece) }
    }

    private func keep(_ piece: Piece) {
        let former = state.withLock { state -> [Piece] in
            guard piece.byteCount <= Self.mostKept else { return [piece] }
            state.spare.append(piece)
            // Two: one that a decode is about to take, and one of another size.
            guard state.spare.count > 2 else { return [] }
            return [state.spare.removeFirst()]
        }
        for piece in former { piece.close() }
    }
}
