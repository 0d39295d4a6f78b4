// An image server over HTTP; see Sources/WebImageServer/README.md.
import Glibc
import WebImage
import WebImageFormats

let words = Array(CommandLine.arguments.dropFirst())
if let status = ServerProgram.runAtOnce(words) { exit(status) }
WebImageFormats.registerAll()
// The program starts itself as decode workers, which do nothing else.
DecodeWorker.runIfRequested()
exit(ServerProgram.run(words, environment: ServerEnvironment.variables))
