// A worker whose decoders misbehave like compromised or buggy ones. Its images are texts: "HAZARD", and the name of a
// hazard.
import Glibc
import WebImage

// As programs register the formats to decode in workers: the worker decodes them itself.
ImageCodersManager.shared.add(IsolatedImageCoder(DecodeIsolation(), base: HazardCoder()))
Attacks.prepare()
// By this name it has a thread too many before the sandbox is installed.
if CommandLine.arguments[0].contains("/crowded-") { Attacks.startThread() }
DecodeWorker.runIfRequested()
exit(64)
