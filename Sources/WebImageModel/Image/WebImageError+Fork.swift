import CLinux
import WebImageSupport

extension DetachedThread {
    /// What is wrong with a process that was forked from one with threads of the library: they are not in it, and what waits for them
    /// would wait for ever. Nil in all others.
    package static var forkProblem: WebImageError? {
        guard webimage_has_lost_threads() else { return nil }
        return WebImageError(.invalidDownloadOperation, "the process was forked after the library had started threads")
    }
}
