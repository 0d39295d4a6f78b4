import Glibc
import WebImage
import WebImageFormats

WebImageFormats.registerAll()
// With --isolated, the program starts itself as decode workers, which do nothing else.
DecodeWorker.runIfRequested()
guard ThreadCheck.passes() else {
    Terminal.printError("the system has no threads available: \(String(cString: strerror(EAGAIN)))")
    exit(ExitStatus.system)
}
TemporaryFiles.removeWhenInterrupted()
let status = await Program.run(Array(CommandLine.arguments.dropFirst()))
if Terminal.outputFailure != 0 {
    Terminal.printError("standard output: \(String(cString: strerror(Terminal.outputFailure)))")
}
exit(status == ExitStatus.success && Terminal.outputFailure != 0 ? ExitStatus.failure : status)
