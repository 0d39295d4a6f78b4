/// The memory limit of decoded frames.
enum AnimationBudget {
    /// Returns the bytes of frames that a limit stands for; 0 derives them from the available memory.
    static func byteCount(_ limit: Int, memory: SystemMemory) -> Int { limit > 0 ? limit : automatic(memory) }

    private static func automatic(_ memory: SystemMemory) -> Int {
        let shares = [memory.usableBytes.map { $0 / 5 }, memory.availableBytes.map { $0 / 5 * 3 }]
        // 64 MiB if neither is known.
        return shares.compactMap(\.self).min() ?? 64 << 20
    }
}
