import FoundationEssentials
import Glibc
import TestSupport
import WebImage

/// Workers whose decoders are hazards.
enum IsolationHarness {
    static let program = ProgramRun.product("decode-hazards")

    /// A Boolean value that indicates whether the system sandboxes processes, and the workers were built: sanitized
    /// builds leave them out.
    static let isSupported: Bool = {
        let actions = (try? String(contentsOfFile: "/proc/sys/kernel/seccomp/actions_avail", encoding: .utf8)) ?? ""
        return actions.contains("trap") && access(program, X_OK) == 0
    }()

    static func isolation(_ change: (inout DecodeIsolation) -> Void = { _ in }) -> DecodeIsolation {
        var isolation = DecodeIsolation()
        isolation.workerPath = program
        isolation.maximumDecodeDuration = 20
        change(&isolation)
        return isolation
    }

    static func coder(_ change: (inout DecodeIsolation) -> Void = { _ in }) -> IsolatedImageCoder {
        IsolatedImageCoder(isolation(change), base: ImageCodersManager())
    }

    static func picture(_ name: String) -> Data { Data("HAZARD \(name)".utf8) }

    /// Returns the result of a decode, on a thread that may block.
    static func decode(_ name: String, _ coder: any ImageCoder) async -> Result<Image, WebImageError> {
        do throws(WebImageError) {
            return .success(try await Image.decode(picture(name), coder: coder))
        } catch {
            return .failure(error)
        }
    }

    static func error(_ name: String, _ coder: any ImageCoder) async -> WebImageError? {
        if case .failure(let error) = await decode(name, coder) { return error }
        return nil
    }

    /// Returns whether an image is the one that the workers draw.
    static func isRight(_ image: Image?, first: UInt8 = 0) -> Bool {
        guard let image, image.pixelWidth == 4, image.pixelHeight == 4 else { return false }
        return image.bitmap.withUnsafeBytes { $0.elementsEqual((0..<64).map { first &+ UInt8($0) }) }
    }

    /// The open descriptors of this process.
    static var descriptorCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
    }

    /// Workers of this process that run a program of that name.
    static func workers(named program: String) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { pid in
            let fields = fields(pid)
            return fields.count > 3 && fields[0] == program && fields[1] != "Z" && pid_t(fields[2]) == getpid()
        }
    }

    /// A process's processor time, in hundredths of a second.
    static func ticks(_ pid: pid_t) -> Int {
        let fields = fields(pid)
        return fields.count > 13 ? (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0) : 0
    }

    /// The name, the state, the parent, and further fields of a process.
    private static func fields(_ pid: pid_t) -> [Substring] {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")"), let start = text.firstIndex(of: "(")
        else { return [] }
        return [text[text.index(after: start)..<end]] + text[end...].split(separator: " ").dropFirst()
    }
}

/// The worker program under a separate name, by which a test distinguishes its workers from all others.
final class NamedHazards: Sendable {
    private let directory = TemporaryDirectory()
    /// The system shows only 15 bytes of it.
    let name: String
    let path: String

    private static let count = Lock(0)

    init(prefix: String = "hazard") {
        let number = Self.count.withLock { count -> Int in
            count += 1
            return count
        }
        name = "\(prefix)-\(number)"
        path = "\(directory.path)/\(name)"
        symlink(IsolationHarness.program, path)
    }

    /// The workers that run it.
    var workers: [pid_t] { IsolationHarness.workers(named: name) }
}
