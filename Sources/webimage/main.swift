import Dispatch
import Glibc
import WebImage
import WebImageFormats

let words = Array(CommandLine.arguments.dropFirst())
if let status = Program.runAtOnce(words) ?? IdentifyCommand.runAtOnce(words) { Program.end(status) }
WebImageFormats.registerAll()
// With --isolated, the program starts itself as decode workers, which do nothing else.
DecodeWorker.runIfRequested()
guard ThreadCheck.passes() else {
    Terminal.printError("the system has no threads available: \(String(cString: strerror(EAGAIN)))")
    exit(ExitStatus.system)
}
TemporaryFiles.removeWhenInterrupted()
Task { Program.end(await Program.run(words)) }
dispatchMain()
