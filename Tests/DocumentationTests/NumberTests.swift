import Testing
import WebImage

/// Numbers that programs may have stored, or compare with those of SDWebImage.
@Suite struct NumberTests {
    @Test func `Cache types, expiry types, policies and orders have SDWebImage's numbers`() {
        #expect([ImageCacheType.none, .disk, .memory, .all].map(\.rawValue) == [0, 1, 2, 3])
        #expect(
            [ImageCacheConfig.ExpireType.accessDate, .modificationDate, .creationDate, .changeDate].map(\.rawValue)
                == [0, 1, 2, 3]
        )
        #expect(
            [ImageCachesManager.OperationPolicy.serial, .concurrent, .highestOnly, .lowestOnly].map(\.rawValue)
                == [0, 1, 2, 3]
        )
        #expect(
            [CallbackQueue.Policy.safeExecute, .dispatch, .invoke, .safeAsyncMainThread].map(\.rawValue)
                == [0, 1, 2, 3]
        )
        #expect([WebImageDownloaderExecutionOrder.fifo, .lifo].map(\.rawValue) == [0, 1])
        #expect([ImageScaleMode.fill, .aspectFit, .aspectFill].map(\.rawValue) == [0, 1, 2])
    }

    @Test func `Formats have SDWebImage's numbers`() {
        let formats: [ImageFormat] = [
            .undefined, .jpeg, .png, .gif, .tiff, .webp, .heic, .heif, .pdf, .svg, .bmp, .raw,
        ]
        #expect(formats.map(\.rawValue) == Array(-1...10))
    }

    @Test func `Errors have SDWebImage's numbers`() {
        let codes: [WebImageError.Code] = [
            .invalidURL, .badImageData, .cacheNotModified, .blacklisted, .invalidDownloadOperation,
            .invalidDownloadStatusCode, .cancelled, .invalidDownloadResponse, .invalidDownloadContentType,
        ]
        #expect(codes.map(\.rawValue) == [1000, 1001, 1002, 1003, 2000, 2001, 2002, 2003, 2004])
    }

    @Test func `Cache types contain their levels`() {
        for type in [ImageCacheType.none, .disk, .memory, .all] {
            #expect(ImageCacheType(memory: type.includesMemory, disk: type.includesDisk) == type)
        }
        #expect(ImageCacheType.all.includesMemory && ImageCacheType.all.includesDisk)
        #expect(!ImageCacheType.none.includesMemory && !ImageCacheType.none.includesDisk)
    }
}
