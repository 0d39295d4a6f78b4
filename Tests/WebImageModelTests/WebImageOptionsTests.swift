import Testing
import WebImageModel

@Suite struct WebImageOptionsTests {
    private static let bits: [WebImageOptions] = [
        .retryFailed, .lowPriority, .progressiveLoad, .refreshCached, .continueInBackground, .handleCookies,
        .allowInvalidSSLCertificates, .highPriority, .delayPlaceholder, .transformAnimatedImage, .avoidAutoSetImage,
        .scaleDownLargeImages, .queryMemoryData, .queryMemoryDataSync, .queryDiskDataSync, .fromCacheOnly,
        .fromLoaderOnly, .forceTransition, .avoidDecodeImage, .decodeFirstFrameOnly, .preloadAllFrames,
        .matchAnimatedImageClass, .waitStoreCache, .transformVectorImage, .avoidAutoCancelImage, .waitTransition,
    ]

    @Test func `Options have the bits that they have in SDWebImage, 0 to 25`() {
        #expect(Self.bits.map(\.rawValue) == (0...25).map { (bit: UInt) -> UInt in 1 << bit })
    }
}
