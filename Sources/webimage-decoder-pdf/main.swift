// The worker program that draws PDF in a sandbox; see Documentation/Isolation.md. A separate program because it links poppler, which is GPL; no other
// program and no library of this package does.
import Glibc
import WebImageIsolation
import WebImagePDFDecoder

DecodeWorker.runIfRequested(coder: PopplerCoder())
fputs("webimage-decoder-pdf is started by programs that draw PDF in worker processes (WebImage).\n", fdopen(2, "w"))
exit(64)
