// A thumbnail server: GET /thumbnail?url=…&width=…&height=… and GET /metrics. See README.md.
import Glibc
import WebImage
import WebImageFormats

WebImageFormats.registerAll()
// The program is its own decode worker: with the policy `.untrusted`, images are decoded in sandboxed child processes.
DecodeWorker.runIfRequested()

// SIGTERM is taken by `sigwait` below. All threads inherit the mask, so it is set before there are any.
var signals = sigset_t()
sigemptyset(&signals)
sigaddset(&signals, SIGTERM)
sigaddset(&signals, SIGINT)
pthread_sigmask(SIG_BLOCK, &signals, nil)

var port: UInt16 = 8080
var rules: [SourceRule] = []
var words = CommandLine.arguments.dropFirst()
while let option = words.popFirst() {
    if option == "--port", let number = words.popFirst().flatMap({ UInt16($0) }) {
        port = number
    } else if option == "--allow", let rule = words.popFirst().flatMap({ SourceRule($0) }) {
        rules.append(rule)
    } else {
        print("usage: Server [--port PORT] [--allow HOST[:PORT]] …")
        exit(64)
    }
}

// The limit for decoded pixels, in caches and in use. A decode that does not fit evicts images from memory caches, waits for others to end,
// and after `patience` is an error.
DecodedMemoryBudget.shared.policy = .reject
DecodedMemoryBudget.shared.patience = 5
DecodedMemoryBudget.shared.byteLimit = 256 << 20

let service = ThumbnailService(allowing: rules, maxThumbnails: 32)
let server = try HTTPServer(port: port, maxConnections: 64) { await service.respond(to: $0) }
log("http://127.0.0.1:\(server.port)/thumbnail?url=…&width=400&height=300")

var signal: Int32 = 0
sigwait(&signals, &signal)
log("finishing the requests under way")
if !server.stop(within: 20) {
    service.cancelAll()
    _ = server.stop(within: 5)
}
// Writes what still waits for the disk cache.
WebImageLifecycle.willTerminate(within: 5)
