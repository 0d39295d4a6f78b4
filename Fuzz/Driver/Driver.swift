import FoundationEssentials
import Glibc

/// The functions that libFuzzer calls. The environment selects the target: the arguments are libFuzzer's.
///
/// - `WEBIMAGE_FUZZ_TARGET`: the target's name.
/// - `WEBIMAGE_FUZZ_LIST`: print all targets and end: name, longest input, seconds, dictionary (or -), summary.
/// - `WEBIMAGE_FUZZ_SEEDS`: write the seed corpus into this directory, and end.
private let chosen: FuzzTarget = {
    if getenv("WEBIMAGE_FUZZ_LIST") != nil {
        for target in FuzzTarget.all {
            let dictionary = target.dictionary ?? "-"
            print("\(target.name)\t\(target.longestInput)\t\(target.timeout)\t\(dictionary)\t\(target.summary)")
        }
        leave(0)
    }
    let name = text("WEBIMAGE_FUZZ_TARGET") ?? ""
    guard let target = FuzzTarget.named(name) else {
        say("there is no target '\(name)'")
        leave(2)
    }
    if let directory = text("WEBIMAGE_FUZZ_SEEDS") {
        do {
            for (index, seed) in try target.allSeeds().enumerated() {
                try seed.write(to: URL(fileURLWithPath: "\(directory)/seed-\(index)"))
            }
        } catch {
            say("the seeds of \(name) cannot be written: \(error)")
            leave(2)
        }
        leave(0)
    }
    return target
}()

private func text(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

private func say(_ words: String) {
    let line = Array("webimage-fuzz: \(words)\n".utf8)
    _ = line.withUnsafeBytes { write(errors, $0.baseAddress, $0.count) }
}

/// Standard error as it was at the start: searches close it, as libraries print much about damaged files.
private let errors = dup(STDERR_FILENO)

/// Ends without libFuzzer's actions for a target that calls `exit`.
private func leave(_ status: Int32) -> Never {
    fflush(nil)
    _exit(status)
}

/// Called once, before all inputs.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
    _ = errors
    _ = chosen
    return 0
}

/// Called with each input; ends the process on a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // The original bytes: they are in a separate block, and reading past its end is detected.
    let data =
        bytes.map {
            Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: $0), count: count, deallocator: .none)
        } ?? Data()
    do throws(FuzzFinding) {
        try chosen.check(data)
    } catch {
        say("FINDING in \(chosen.name): \(error)")
        abort()
    }
    return 0
}
