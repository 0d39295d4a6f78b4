extension ImageCodersManager {
    /// What its coders take at present. Cost: that of a lock, unless coders have come or gone.
    package var accept: AcceptField {
        let (cached, coders, generation) = list.withLock { list -> (AcceptField?, [any ImageCoder], UInt64) in
            if let accept = list.accept { return (accept, [], 0) }
            return (nil, list.coders, list.generation)
        }
        if let cached { return cached }
        // Coders are asked outside the lock: they are anybody's.
        let value = AcceptField.value { data in coders.contains { $0.canDecode(data) } }
        let accept = AcceptField(value: value, generation: generation)
        list.withLock { if $0.generation == generation { $0.accept = accept } }
        return accept
    }
}
