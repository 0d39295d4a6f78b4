import CLinux
import Glibc

/// A thread that runs one closure and is not joined.
package enum DetachedThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        let name: String?

        init(name: String?, run: @escaping @Sendable () -> Void) {
            self.run = run
            self.name = name
        }
    }

    /// Starts a thread. The closure's captures are released before the thread ends.
    ///
    /// - Parameters:
    ///   - name: the thread's name, of which the system shows 15 bytes; nil for one that names itself.
    ///   - stackByteCount: the size of the stack; 1 MiB by default.
    /// - Returns: false if the system cannot create a thread; the closure is not called then.
    package static func start(
        name: String? = nil,
        stackByteCount: Int = 1 << 20,
        _ run: @escaping @Sendable () -> Void
    ) -> Bool {
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackByteCount)
        webimage_note_thread()
        let body = Unmanaged.passRetained(Body(name: name, run: run))
        let code = pthread_create(
            &thread,
            &attributes,
            { pointer in
                guard let pointer else { return nil }
                let body = Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue()
                if let name = body.name { webimage_name_thread(String(decoding: name.utf8.prefix(15), as: UTF8.self)) }
                body.run()
                return nil
            },
            body.toOpaque()
        )
        if code != 0 { body.release() }
        return code == 0
    }
}
