import Glibc

/// Runs what calls itself deeper than threads of small stacks can bear, such as those that decode.
enum DeepStack {
    private final class Job {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// What of it is not used costs nothing.
    private static let byteCount = 64 << 20

    /// Runs `body` on a thread of its own, and waits for it.
    ///
    /// - Returns: nil when there is no thread for it.
    static func run<Value>(_ body: () -> Value) -> Value? {
        var result: Value?
        withoutActuallyEscaping(body) { body in
            let job = Job { result = body() }
            var attributes = pthread_attr_t()
            guard pthread_attr_init(&attributes) == 0 else { return }
            defer { pthread_attr_destroy(&attributes) }
            pthread_attr_setstacksize(&attributes, byteCount)
            var thread = pthread_t()
            let start: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
                if let context { Unmanaged<Job>.fromOpaque(context).takeUnretainedValue().body() }
                return nil
            }
            withExtendedLifetime(job) {
                guard pthread_create(&thread, &attributes, start, Unmanaged.passUnretained(job).toOpaque()) == 0 else {
                    return
                }
                pthread_join(thread, nil)
            }
        }
        return result
    }
}
