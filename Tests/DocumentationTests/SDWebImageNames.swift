import Testing

/// Names of SDWebImage's public surface, of one kind, that must each have a row in the table of parity.
struct SDWebImageNames: Sendable, CustomTestStringConvertible {
    let kind: String
    let names: [String]

    init(_ kind: String, _ names: [String]) {
        self.kind = kind
        self.names = names
    }

    var testDescription: String { kind }

    static let all = [
        types, closures, options, cacheOptions, downloaderOptions, contextKeys, errors, cacheConfig, downloaderConfig,
        notifications, enumerations, functions, transformers, formerNames,
    ]

    static let types = SDWebImageNames(
        "types",
        [
            "SDImageCacheConfig", "SDMemoryCache", "SDDiskCache", "SDImageCache", "SDImageCacheToken",
            "SDImageCachesManager", "SDWebImageManager", "SDWebImageManagerDelegate", "SDWebImageCombinedOperation",
            "SDWebImageOperation", "SDWebImageOptions", "SDImageCacheOptions", "SDWebImageContext",
            "SDWebImageErrorDomain", "SDCallbackQueue", "SDWebImageCacheKeyFilter", "SDWebImageCacheSerializer",
            "SDWebImageOptionsProcessor", "SDWebImageOptionsResult", "SDImageLoader", "SDImageLoadersManager",
            "SDWebImageDownloader", "SDWebImageDownloaderConfig", "SDWebImageDownloaderOptions",
            "SDWebImageDownloaderOperation", "SDWebImageDownloadToken", "SDWebImageDownloaderRequestModifier",
            "SDWebImageDownloaderResponseModifier", "SDWebImageDownloaderDecryptor", "SDWebImagePrefetcher",
            "SDWebImagePrefetcherDelegate", "SDWebImagePrefetchToken", "SDGraphicsImageRenderer",
            "SDGraphicsImageRendererFormat", "SDWeakProxy", "SDAsyncBlockOperation", "SDInternalMacros",
            "SDDeviceHelper", "SDImageAssetManager", "SDFileAttributeHelper",
        ]
    )

    static let closures = SDWebImageNames(
        "closures",
        [
            "SDExternalCompletionBlock", "SDInternalCompletionBlock", "SDImageLoaderProgressBlock",
            "SDImageLoaderCompletedBlock", "SDImageCacheQueryCompletionBlock", "SDImageCacheContainsCompletionBlock",
            "SDImageCacheCheckCompletionBlock", "SDImageCacheCalculateSizeBlock",
            "SDImageCacheQueryDataCompletionBlock", "SDImageCacheAdditionalCachePathBlock", "SDWebImageNoParamsBlock",
            "SDSetImageBlock",
        ]
    )

    /// In the order of their bits, from 0 on.
    static let options = SDWebImageNames(
        "options",
        [
            "RetryFailed", "LowPriority", "ProgressiveLoad", "RefreshCached", "ContinueInBackground", "HandleCookies",
            "AllowInvalidSSLCertificates", "HighPriority", "DelayPlaceholder", "TransformAnimatedImage",
            "AvoidAutoSetImage", "ScaleDownLargeImages", "QueryMemoryData", "QueryMemoryDataSync", "QueryDiskDataSync",
            "FromCacheOnly", "FromLoaderOnly", "ForceTransition", "AvoidDecodeImage", "DecodeFirstFrameOnly",
            "PreloadAllFrames", "MatchAnimatedImageClass", "WaitStoreCache", "TransformVectorImage",
            "AvoidAutoCancelImage", "WaitTransition",
        ].map { "SDWebImage" + $0 }
    )

    static let cacheOptions = SDWebImageNames(
        "options of caches",
        [
            "QueryMemoryData", "QueryMemoryDataSync", "QueryDiskDataSync", "ScaleDownLargeImages", "AvoidDecodeImage",
            "DecodeFirstFrameOnly", "PreloadAllFrames", "MatchAnimatedImageClass",
        ].map { "SDImageCache" + $0 }
    )

    static let downloaderOptions = SDWebImageNames(
        "options of downloads",
        [
            "LowPriority", "ProgressiveLoad", "UseNSURLCache", "IgnoreCachedResponse", "ContinueInBackground",
            "HandleCookies", "AllowInvalidSSLCertificates", "HighPriority", "ScaleDownLargeImages", "AvoidDecodeImage",
            "DecodeFirstFrameOnly", "PreloadAllFrames", "MatchAnimatedImageClass",
        ].map { "SDWebImageDownloader" + $0 }
    )

    static let contextKeys = SDWebImageNames(
        "keys of contexts",
        [
            "SetImageOperationKey", "CustomManager", "CallbackQueue", "ImageCache", "ImageLoader", "ImageCoder",
            "ImageTransformer", "ImageForceDecodePolicy", "ImageDecodeOptions", "ImageScaleFactor",
            "ImagePreserveAspectRatio", "ImageThumbnailPixelSize", "ImageTypeIdentifierHint",
            "ImageScaleDownLimitBytes", "ImageDecodeToHDR", "ImageEncodeOptions", "QueryCacheType", "StoreCacheType",
            "OriginalQueryCacheType", "OriginalStoreCacheType", "OriginalImageCache", "AnimatedImageClass",
            "DownloadRequestModifier", "DownloadResponseModifier", "DownloadDecryptor", "CacheKeyFilter",
            "CacheSerializer", "SDWebImageContextLoaderCachedImage",
        ]
    )

    static let errors = SDWebImageNames(
        "errors",
        [
            "InvalidURL", "BadImageData", "CacheNotModified", "BlackListed", "InvalidDownloadOperation",
            "InvalidDownloadStatusCode", "Cancelled", "InvalidDownloadResponse", "InvalidDownloadContentType",
            "DownloadStatusCodeKey", "DownloadContentTypeKey", "DownloadResponseKey",
        ].map { "SDWebImageError" + $0 }
    )

    static let cacheConfig = SDWebImageNames(
        "configuration of caches",
        [
            "defaultCacheConfig", "shouldDisableiCloud", "shouldCacheImagesInMemory", "shouldUseWeakMemoryCache",
            "shouldRemoveExpiredDataWhenEnterBackground", "shouldRemoveExpiredDataWhenTerminate",
            "diskCacheReadingOptions", "diskCacheWritingOptions", "maxDiskAge", "maxDiskSize", "maxMemoryCost",
            "maxMemoryCount", "diskCacheExpireType", "fileManager", "ioQueueAttributes", "memoryCacheClass",
            "diskCacheClass",
        ]
    )

    static let downloaderConfig = SDWebImageNames(
        "configuration of downloaders",
        [
            "defaultDownloaderConfig", "maxConcurrentDownloads", "downloadTimeout", "minimumProgressInterval",
            "sessionConfiguration", "operationClass", "executionOrder", "urlCredential", "username", "password",
            "acceptableStatusCodes", "acceptableContentTypes",
        ]
    )

    static let notifications = SDWebImageNames(
        "notifications",
        ["Start", "ReceiveResponse", "Stop", "Finish"].map { "SDWebImageDownload\($0)Notification" }
    )

    static let enumerations = SDWebImageNames(
        "enumerations",
        [
            "SDImageCacheType", "SDImageCacheTypeNone", "SDImageCacheTypeDisk", "SDImageCacheTypeMemory",
            "SDImageCacheTypeAll", "SDImageCacheConfigExpireType", "SDImageCacheConfigExpireTypeAccessDate",
            "SDImageCacheConfigExpireTypeModificationDate", "SDImageCacheConfigExpireTypeCreationDate",
            "SDImageCacheConfigExpireTypeChangeDate", "SDImageCachesManagerOperationPolicy", "SDCallbackPolicy",
            "SDCallbackPolicySafeExecute", "SDCallbackPolicyDispatch", "SDCallbackPolicyInvoke",
            "SDCallbackPolicySafeAsyncMainThread", "SDWebImageDownloaderFIFOExecutionOrder",
            "SDWebImageDownloaderLIFOExecutionOrder",
        ]
    )

    static let functions = SDWebImageNames(
        "functions",
        [
            "SDTransformedKeyForKey", "SDThumbnailedKeyForKey", "SDImageCacheDecodeImageData",
            "SDGetDecodeOptionsFromContext", "SDSetDecodeOptionsToContext", "SDImageLoaderDecodeImageData",
            "SDImageLoaderDecodeProgressiveImageData", "SDImageLoaderGetProgressiveCoder",
            "SDImageLoaderSetProgressiveCoder", "SDImageScaleFactorForKey", "SDScaledImageForScaleFactor",
            "SDScaledImageForKey", "sd_imageLoopCount", "sd_imageFrameCount", "sd_isAnimated", "sd_isVector",
            "sd_imageFormat", "sd_isIncremental", "sd_isTransformed", "sd_isThumbnail", "sd_decodeOptions",
            "sd_isHighDynamicRange", "sd_extendedObject", "sd_isDecoded", "sd_memoryCost", "sd_imageData",
            "sd_imageDataAsFormat", "sd_imageWithGIFData",
        ]
    )

    static let transformers = SDWebImageNames(
        "transformers",
        [
            "SDImageTransformer", "SDImageBaseTransformer", "SDImagePipelineTransformer",
            "SDImageRoundCornerTransformer", "SDImageResizingTransformer", "SDImageCroppingTransformer",
            "SDImageFlippingTransformer", "SDImageRotationTransformer", "SDImageTintTransformer",
            "SDImageBlurTransformer", "SDImageFilterTransformer", "SDRectCorner", "SDRectCornerTopLeft",
            "SDRectCornerTopRight", "SDRectCornerBottomLeft", "SDRectCornerBottomRight", "SDRectCornerAllCorners",
            "SDImageScaleMode", "SDImageScaleModeFill", "SDImageScaleModeAspectFit", "SDImageScaleModeAspectFill",
            "preserveImageMetadata", "transformerKey", "transformedImageWithImage", "sd_resizedImageWithSize",
            "sd_croppedImageWithRect", "sd_roundedCornerImageWithRadius", "sd_rotatedImageWithAngle",
            "sd_flippedImageWithHorizontal", "sd_tintedImageWithColor", "sd_colorAtPoint", "sd_colorsWithRect",
            "sd_blurredImageWithRadius", "sd_filteredImageWithFilter", "sd_hexString",
        ]
    )

    static let formerNames = SDWebImageNames(
        "former names",
        [
            "maxCacheAge", "kDefaultCacheMaxCacheAge", "maxCacheSize", "maxMemoryCountLimit", "shouldDecompressImages",
            "memCache", "AutoPurgeCache", "customPaths", "addReadOnlyCachePath", "makeDiskCachePath", "fullNamespace",
            "defaultCachePathForKey", "cachedFileNameForKey", "recalculateFromImage", "ImageDataHasPNGPreffix",
            "kPNGSignatureData", "SDCGImageRefContainsAlpha", "queryDiskCacheForKey", "SDWebImageQueryCompletedBlock",
            "SDCacheQueryCompletedBlock", "SDWebImageCheckCacheCompletionBlock", "SDWebImageCalculateSizeBlock",
            "SDImageCacheQueryDataWhenInMemory", "SDImageCacheQueryDiskSync", "imageFromDiskCacheForKey", "getSize",
            "getDiskCount", "cleanDisk", "cleanDiskWithCompletionBlock", "backgroundCleanDisk", "deleteOldFiles",
            "backgroundDeleteOldFiles", "SDCacheCostForImage", "scaledImageForKey", "SDWebImageCoder",
            "SDWebImageCodersManager", "decodedImageWithImage", "cacheKeyFilter", "imageDownloader",
            "downloadImageWithURL", "subOperation", "dispatch_main_sync_safe", "dispatch_main_async_safe",
            "SDDispatchQueueSetterSementics", "weakCacheLock", "failedURLsLock", "runningOperationsLock",
            "sd_stopImageIndicator",
        ]
    )
}
