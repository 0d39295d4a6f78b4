// A worker whose decoders do what decoders that were taken over, or have bugs, do. Its pictures are texts: "HAZARD", and the name of one.
import Glibc

@testable import WebImage

ImageCodersManager.shared.add(HazardCoder())
DecodeWorker.runIfRequested()
exit(64)
