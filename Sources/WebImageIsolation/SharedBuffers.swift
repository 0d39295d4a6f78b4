import CIsolation
import Glibc

/// The memory of a worker's bitmaps, which can be handed to the parent without copying.
///
/// Faulting in fresh pages costs as much as a decode, so one block is prepared on a separate thread while an image is decoded into
/// another.
package final class SharedBuffers: @unchecked Sendable {
    // Sendable because the state is behind a lock, and a block is accessed only by the thread that has taken it out.

    /// The allocator of this process's bitmaps; nil in all processes but workers. Set before there are other threads.
    package nonisolated(unsafe) static var inUse: SharedBuffers?

    /// Smaller bitmaps are copied when they are handed over.
    private static let smallest = 16 << 10
    /// The maximum number of bytes of a block that is prepared or kept.
    private static let mostKept = 16 << 20
    /// The maximum number of blocks: each takes one of the few descriptors that a worker may have. Further bitmaps use ordinary
    /// memory, and are copied when they are handed over.
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
        /// The sizes in bytes of a bitmap that is to be announced.
        var awaited: ClosedRange<Int>?
        /// The bitmap that was announced.
        var announced: UnsafeMutableRawPointer?
    }

    private let state = Lock(State())
    /// Announces the memory of an image to the parent.
    private let announce: @Sendable (_ descriptor: Int32, _ byteCount: Int) -> Void
    /// Without timers, which need system calls that a worker may not make. Blocks that are not prepared are made on demand.
    private let preparing = WorkQueue(
        name: "prepare",
        width: 1,
        threads: WorkThreads(source: .system, fallback: WorkThreads.shared.fallback, delay: DelaySource { _, _ in {} })
    )

    init(announce: @escaping @Sendable (_ descriptor: Int32, _ byteCount: Int) -> Void = { _, _ in }) {
        self.announce = announce
    }

    /// Requests that the next bitmap of about that size is announced, once; nil for none.
    func await(byteCount: Int?) {
        let range = byteCount.flatMap { $0 >= MemoryMessage.smallestAnnounced ? $0 / 2...$0 : nil }
        state.withLock { ($0.awaited, $0.announced) = (range, nil) }
    }

    /// Returns memory for a bitmap; nil for a small one, and if no memory is available.
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

    /// Returns whether the parent knows the memory of a bitmap.
    package func isAnnounced(_ storage: PixelStorage) -> Bool { state.withLock { $0.announced == storage.base } }

    /// Unmaps the memory of a bitmap that is no longer used, and seals it. Returns a descriptor, and whether the parent already has
    /// one; nil on failure.
    ///
    /// - Parameter byteCount: the number of bytes that are handed over.
    func seal(_ storage: PixelStorage, byteCount: Int) -> (descriptor: Int32, isAnnounced: Bool)? {
        let isAnnounced = isAnnounced(storage)
        let piece = state.withLock { $0.used.removeValue(forKey: storage.base) }
        guard let piece else { return copy(storage, byteCount: byteCount).map { ($0, false) } }
        munmap(piece.base, piece.byteCount)
        // Truncated to what the parent needs. A block may be twice as big.
        guard byteCount <= piece.byteCount, ftruncate(piece.descriptor, byteCount) == 0 else {
            Glibc.close(piece.descriptor)
            return nil
        }
        return sealed(piece.descriptor).map { ($0, isAnnounced) }
    }

    /// Copies bytes into sealed memory.
    func seal(_ bytes: UnsafeRawBufferPointer) -> Int32? {
        let descriptor = webimage_memory_create(bytes.count)
        guard descriptor >= 0 else { return nil }
        guard webimage_memory_write(descriptor, bytes.baseAddress, bytes.count) == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        return sealed(descriptor)
    }

    /// Prepares memory for the next bitmap of about that size.
    func prepare(byteCount: Int) {
        guard byteCount >= Self.smallest, byteCount <= Self.mostKept else { return }
        preparing.submit { [self] in
            let isThere = state.withLock { state in state.spare.contains { Self.suits($0, byteCount) } }
            if !isThere, let piece = make(byteCount) { keep(piece) }
        }
    }

    /// Copies the bytes of a bitmap that stays in use into sealed memory.
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

    /// Returns whether another block is allowed; removes a spare one if necessary.
    private func makeRoom() -> Bool {
        let (hasRoom, former) = state.withLock { state -> (Bool, Piece?) in
            guard state.used.count + state.spare.count >= Self.mostPieces else { return (true, nil) }
            return state.spare.isEmpty ? (false, nil) : (true, state.spare.removeFirst())
        }
        former?.close()
        return hasRoom
    }

    /// Takes back the memory of a bitmap that was not handed over.
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
