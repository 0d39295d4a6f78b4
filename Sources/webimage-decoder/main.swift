// The worker program that decodes untrusted images in a sandbox; see Documentation/Isolation.md.
import Glibc
import WebImageCodecs
import WebImageFormats
import WebImageIsolation

WebImageFormats.registerAll()
DecodeWorker.runIfRequested(coder: ImageCodersManager.shared)
fputs(
    "webimage-decoder is started by programs that decode images in worker processes (WebImage).\n",
    fdopen(2, "w")
)
exit(64)
