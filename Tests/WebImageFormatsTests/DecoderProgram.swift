import FoundationEssentials
import Glibc
import TestSupport

/// The product that decodes for others.
enum DecoderProgram {
    static let path = ProgramRun.product("webimage-decoder")
    static let pdfPath = ProgramRun.product("webimage-decoder-pdf")
    static let videoPath = ProgramRun.product("webimage-decoder-video")
    /// A Boolean value that indicates whether the system sandboxes processes, and the program was built: sanitized
    /// builds leave it out.
    static let isSupported: Bool = {
        let actions = (try? String(contentsOfFile: "/proc/sys/kernel/seccomp/actions_avail", encoding: .utf8)) ?? ""
        return actions.contains("trap") && access(path, X_OK) == 0
    }()
}
