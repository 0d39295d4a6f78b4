import Glibc
import WebImage
import WebImageFormats

WebImageFormats.registerAll()
// With --isolated the program starts itself to decode, and is nothing else then.
DecodeWorker.runIfRequested()
guard ThreadCheck.passes() else {
    Terminal.printError("the system gives no threads: \(String(cString: strerror(EAGAIN)))")
    exit(ExitStatus.system)
}
TemporaryFiles.removeWhenInterrupted()
let status = await Program.run(Array(CommandLine.arguments.dropFirst()))
if Terminal.outputFailure != 0 {
    Terminal.printError("standard output: \(String(cString: strerror(Terminal.outputFailure)))")
}
exit(status == ExitStatus.success && Terminal.outputFailure != 0 ? ExitStatus.failure : status)
