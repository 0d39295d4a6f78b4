import CTestSupport
import FoundationEssentials
import Glibc

/// The disturbed calls on the files of a directory, and the effects. Works only in a process that has the library of
/// `Tests/FaultShim` preloaded; ``FaultLibrary`` makes it.
public struct FaultPlan: Sendable, Hashable {
    /// A kind of call, in the order of the library.
    public enum Call: Int, Sendable, CaseIterable {
        case open, read, write, sync, rename, link, unlink, truncate, allocate, close, stat, make, list, lock, map, copy
        case times, duplicate
    }

    /// The effect on a call, in the order of the library.
    public enum Action: Int, Sendable {
        case count, fail, short, dieBefore, dieAfter, dieWithin, delay
    }

    /// The effect on the calls.
    public var action: Action
    /// An error number, bytes, or microseconds.
    public var value: Int
    /// The kinds of calls that count.
    public var calls: Set<Call>
    /// The numbers of the disturbed calls, from 1.
    public var numbers: ClosedRange<Int>

    /// A plan.
    public init(
        _ action: Action = .count,
        _ value: Int = 0,
        calls: Set<Call> = Set(Call.allCases),
        numbers: ClosedRange<Int> = 1...1
    ) {
        (self.action, self.value, self.calls, self.numbers) = (action, value, calls, numbers)
    }

    private var mask: UInt { calls.reduce(0) { $0 | 1 << UInt($1.rawValue) } }

    /// A Boolean value that indicates whether the library is loaded.
    public static var isAvailable: Bool { ctest_has_faults() != 0 }

    /// Begins to count and disturb the calls on files in a directory.
    public func begin(in directory: String) {
        ctest_begin_faults(directory, numbers.lowerBound, numbers.upperBound, Int32(action.rawValue), value, mask)
    }

    /// Ends the plan; returns the number of calls, and the kind of the first disturbed one.
    public static func end() -> (count: Int, disturbed: Call?) {
        let count = ctest_end_faults()
        return (count, Call(rawValue: Int(ctest_disturbed_fault())))
    }

    /// The variables that make a program which knows nothing of it begin with the plan.
    ///
    /// - Parameter report: The file that gets the number of calls, and the kind of the first disturbed one, when the
    ///   program ends by itself.
    public func environment(directory: String, report: String? = nil) throws -> [String: String] {
        var variables = [
            "LD_PRELOAD": try FaultLibrary.path(), "FAULT_DIRECTORY": directory,
            "FAULT_FIRST": "\(numbers.lowerBound)", "FAULT_LAST": "\(numbers.upperBound)",
            "FAULT_ACTION": "\(action.rawValue)", "FAULT_VALUE": "\(value)", "FAULT_CALLS": "\(mask)",
        ]
        if let report { variables["FAULT_REPORT"] = report }
        return variables
    }
}

/// The preloaded library, compiled from its sources with Swift's compiler.
public enum FaultLibrary {
    /// It could not be compiled.
    public struct Failure: Error, CustomStringConvertible {
        /// The compiler's output.
        public let description: String
    }

    private static let made: Result<(directory: TemporaryDirectory, path: String), Failure> = make()

    /// The path of the library; compiled with the first call of a process.
    public static func path() throws -> String { try made.get().path }

    private static func make() -> Result<(directory: TemporaryDirectory, path: String), Failure> {
        var sources = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { sources.deleteLastPathComponent() }
        let folder = sources.path + "/FaultShim/"
        let directory = TemporaryDirectory()
        let library = directory.path("libfault.so")
        let files = ["fault-plan.c", "fault-bytes.c", "fault-names.c"].map { folder + $0 }
        let flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library]
        do {
            let run = try ProgramRun("/usr/bin/env", ["clang"] + flags + files + ["-ldl", "-lpthread"])
            guard run.status == 0 else { return .failure(Failure(description: "clang: \(run.errors)")) }
            return .success((directory, library))
        } catch {
            return .failure(Failure(description: "\(error)"))
        }
    }
}
