extension ImageCodersManager {
    /// The `Accept` field for the formats that the current coders decode. Cost: one lock, unless the coders have changed.
    package var accept: AcceptField {
        let (cached, coders, generation) = list.withLock { list -> (AcceptField?, [any ImageCoder], UInt64) in
            if let accept = list.accept { return (accept, [], 0) }
            return (nil, list.coders, list.generation)
        }
        if let cached { return cached }
        // The coders are called outside the lock: they can be user code.
        let value = AcceptField.value { data in coders.contains { $0.canDecode(data) } }
        let accept = AcceptField(value: value, generation: generation)
        list.withLock { if $0.generation == generation { $0.accept = accept } }
        return accept
    }
}
