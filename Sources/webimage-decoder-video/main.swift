// The worker program that decodes frames of videos in a sandbox; see Documentation/Isolation.md. A separate program because it links FFmpeg's
// libraries, whose builds are usually GPL; no other program and no library of this package does.
import Glibc
import WebImageIsolation
import WebImageVideoDecoder

DecodeWorker.runIfRequested(coder: FrameCoder())
fputs("webimage-decoder-video is started by programs that show stills of videos (WebImage).\n", fdopen(2, "w"))
exit(64)
