import CLinux
import WebImageSupport

extension DetachedThread {
    /// The error of a process that was forked from one with threads of the library: the threads do not exist in it, so waiting for
    /// them would never end. Nil in all other processes.
    package static var forkProblem: WebImageError? {
        guard webimage_has_lost_threads() else { return nil }
        return WebImageError(.invalidDownloadOperation, "the process was forked after the library had started threads")
    }
}
