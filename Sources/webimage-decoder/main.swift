// The worker in which programs decode pictures that they do not trust; see Documentation/Isolation.md.
import Glibc
import WebImageCodecs
import WebImageFormats
import WebImageIsolation

WebImageFormats.registerAll()
DecodeWorker.runIfRequested(coder: ImageCodersManager.shared)
fputs(
    "webimage-decoder is started by programs that decode pictures in processes of their own (WebImage).\n",
    fdopen(2, "w")
)
exit(64)
