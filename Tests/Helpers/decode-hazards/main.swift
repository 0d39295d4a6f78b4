// A worker whose decoders do what decoders that were taken over, or have bugs, do. Its pictures are texts: "HAZARD", and the name of one.
import Glibc
import WebImage

// As programs register what they decode in workers: the worker decodes it itself.
ImageCodersManager.shared.add(IsolatedImageCoder(DecodeIsolation(), base: HazardCoder()))
Attacks.prepare()
// By this name it has a thread too many before there are walls.
if CommandLine.arguments[0].contains("/crowded-") { Attacks.startThread() }
DecodeWorker.runIfRequested()
exit(64)
