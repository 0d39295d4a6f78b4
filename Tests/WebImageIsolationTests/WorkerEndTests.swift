import CIsolation
import Glibc
import ModelTestSupport
import Testing

@testable import WebImageIsolation

@Suite(.tags(.addressSanitizer)) struct WorkerEndTests {
    private func end(_ signal: Int32, code: Int32 = 0, _ crash: WorkerCrash? = nil) -> WebImageError {
        WorkerEnd(signal: signal, code: code, crash: crash).error(seconds: 5)
    }

    @Test func `Each kind of end is reported as such`() {
        #expect(end(SIGSEGV).code == .decoderCrashed && end(SIGSEGV).message.contains("SIGSEGV"))
        #expect(end(SIGXCPU).code == .decodeTimedOut)
        #expect(end(SIGSYS).message.contains("does not allow"))
        #expect(end(0, code: 7).message.contains("status 7"))
        #expect(end(63).message.contains("signal 63"))
        let memory = end(SIGABRT, WorkerCrash(signal: 6, isOutOfMemory: true, allowed: 300 << 20))
        #expect(memory.code == .outOfMemory && memory.message.contains("300 MiB"))
        let call = end(0, code: 159, WorkerCrash(signal: 31, call: "socket"))
        #expect(call.code == .decoderCrashed && call.message.contains("it called socket"))
        // Another waiter has collected the exit status: only the worker's own message is known.
        #expect(end(0, WorkerCrash(signal: 11)).message.contains("SIGSEGV"))
    }

    @Test func `Failures to start are reported as such`() {
        let program = WorkerProgram(path: "/x")
        for failure in [WorkerFailure.timedOut, .lied("no"), .unreachable("no"), .ended(WorkerEnd(signal: 0, code: 1))]
        {
            let error = failure.startError(program)
            #expect(error.code == .decoderUnavailable && error.message.hasPrefix("/x "))
        }
        #expect(WorkerFailure.timedOut.error(seconds: 2).code == .decodeTimedOut)
        #expect(WorkerFailure.lied("x").error(seconds: 2).code == .decoderCrashed)
        #expect(WorkerFailure.unreachable("x").error(seconds: 2).code == .decoderUnavailable)
    }

    @Test func `A crash report of any content is parsed`() {
        var crash = webimage_crash()
        crash.magic = UInt32(webimage_crash_magic)
        (crash.signal, crash.call, crash.allowed) = (SIGSYS, 257, .max)
        withUnsafeMutableBytes(of: &crash.name) { $0.copyBytes(from: "openat".utf8) }
        withUnsafeMutableBytes(of: &crash.path) { $0.copyBytes(from: "/a\u{1B}".utf8) }
        let bytes = withUnsafeBytes(of: crash) { Array($0) }
        let read = WorkerCrash(bytes)
        #expect(read?.call == "openat(\"/a?\")" && read?.allowed == .max)
        crash.signal = SIGSEGV
        #expect(withUnsafeBytes(of: crash) { WorkerCrash(Array($0)) }?.call == nil)
        #expect(WorkerCrash(Array(bytes.dropLast())) == nil && WorkerCrash([]) == nil)
        crash.magic = 0
        #expect(withUnsafeBytes(of: crash) { WorkerCrash(Array($0)) } == nil)
    }
}
