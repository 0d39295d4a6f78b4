import FoundationEssentials
import Glibc

/// A directory that is removed with everything in it when the object goes.
public final class TemporaryDirectory: Sendable {
    /// Its absolute path, without a slash at the end.
    public let path: String

    /// Makes a new, empty directory of mode 0700 below another: the system's temporary directory by default.
    public init(in parent: String = "/tmp") {
        var template = Array("\(parent)/webimage-test-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            mkdtemp(buffer.baseAddress!)
            return String(cString: buffer.baseAddress!)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of something in the directory.
    public func path(_ name: String) -> String { path + "/" + name }
}
