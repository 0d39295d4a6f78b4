import Glibc
import WebImageFormats

TemporaryFiles.removeWhenInterrupted()
WebImageFormats.registerAll()
let status = await Program.run(Array(CommandLine.arguments.dropFirst()))
if Terminal.outputFailure != 0 {
    Terminal.printError("standard output: \(String(cString: strerror(Terminal.outputFailure)))")
}
exit(status == ExitStatus.success && Terminal.outputFailure != 0 ? ExitStatus.failure : status)
