/// How much memory frames may take.
enum AnimationBudget {
    /// The bytes of frames that a limit stands for; 0 goes by the memory that there is.
    static func byteCount(_ limit: Int, memory: SystemMemory) -> Int { limit > 0 ? limit : automatic(memory) }

    private static func automatic(_ memory: SystemMemory) -> Int {
        let shares = [memory.usableBytes.map { $0 / 5 }, memory.availableBytes.map { $0 / 5 * 3 }]
        // 64 MiB where nothing is known.
        return shares.compactMap(\.self).min() ?? 64 << 20
    }
}
