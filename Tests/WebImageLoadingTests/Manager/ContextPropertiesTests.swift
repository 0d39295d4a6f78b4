import ModelTestSupport
import Testing
import WebImageLoading

private enum Tag: WebImageContextKey { static let defaultValue: Int? = 7 }
private enum OtherTag: WebImageContextKey { static let defaultValue = "" }

private final class Observer: WebImageLoadObserver {
    func loadDid(_ event: WebImageLoadEvent) {}
}

@Suite struct ContextPropertiesTests {
    @Test func `A context without rare properties has no box, also when defaults are set`() {
        var context = WebImageContext()
        #expect(!context.hasRareProperties)
        context.decodeOptions = nil
        context.encodeOptions = nil
        context.formatHint = .inherited
        context.decodeToHDR = nil
        context.loadValues = OptionValues()
        context.additionalHeaders = [:]
        context.cacheSerializer = nil
        context.setImageOperationKey = nil
        context.downloadRequestModifier = nil
        context.downloadResponseModifier = nil
        context.downloadDecryptor = nil
        context.redirectHandler = nil
        context.retryPolicy = nil
        context.observer = nil
        #expect(!context.hasRareProperties)
    }

    @Test func `Each rare property is stored, and removed when reset`() {
        func check<Value>(
            _ path: WritableKeyPath<WebImageContext, Value>,
            _ value: Value,
            _ isThere: (Value) -> Bool,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            var context = WebImageContext()
            let former = context[keyPath: path]
            context[keyPath: path] = value
            #expect(isThere(context[keyPath: path]) && context.hasRareProperties, sourceLocation: sourceLocation)
            context[keyPath: path] = former
            #expect(!context.hasRareProperties, sourceLocation: sourceLocation)
        }
        check(\.decodeOptions, ImageDecodeOptions()) { $0 != nil }
        check(\.encodeOptions, ImageEncodeOptions()) { $0 != nil }
        check(\.formatHint, .none) { $0 == WebImageContext.FormatHint.none }
        check(\.decodeToHDR, false) { $0 == false }
        check(\.additionalHeaders, ["A": "b"]) { $0["a"] == "b" }
        let serializer = CacheSerializer { _, data, _ in data }
        check(\.cacheSerializer, serializer) { $0 === serializer }
        check(\.setImageOperationKey, "key") { $0 == "key" }
        let request = DownloadRequestModifier()
        check(\.downloadRequestModifier, request) { $0 === request }
        let response = DownloadResponseModifier()
        check(\.downloadResponseModifier, response) { $0 === response }
        check(\.downloadDecryptor, .base64) { $0 === DownloadDecryptor.base64 }
        let handler = DownloadRedirectHandler { _, _ in .stop }
        check(\.redirectHandler, handler) { $0 === handler }
        check(\.retryPolicy, .never) { $0?.maximumRetryCount == 0 }
        let observer = Observer()
        check(\.observer, observer) { $0 === observer }
    }

    @Test func `Custom values are stored by their keys`() {
        var context = WebImageContext()
        #expect(context[Tag.self] == 7 && context[OtherTag.self].isEmpty)
        context[Tag.self] = nil
        context[OtherTag.self] = "mine"
        #expect(context[Tag.self] == nil && context[OtherTag.self] == "mine")
    }

    @Test func `Changing a copy does not change the original`() {
        var context = WebImageContext()
        context.additionalHeaders["A"] = "1"
        var copy = context
        copy.additionalHeaders["A"] = "2"
        copy.setImageOperationKey = "key"
        #expect(context.additionalHeaders["A"] == "1" && context.setImageOperationKey == nil)
        #expect(copy.additionalHeaders["A"] == "2")
    }

    @Test func `A loader gets only the hooks and the retry policy of a context`() throws {
        var context = WebImageContext()
        context.observer = Observer()
        context.cacheSerializer = CacheSerializer { _, _, _ in nil }
        context[OtherTag.self] = "mine"
        context.imageCache = FakeCache()
        context.callbackQueue = .inline
        #expect(context.reducedForLoader == nil)
        context.downloadDecryptor = .base64
        context.retryPolicy = DownloadRetryPolicy()
        let reduced = try #require(context.reducedForLoader)
        #expect(reduced.downloadDecryptor === DownloadDecryptor.base64 && reduced.retryPolicy == DownloadRetryPolicy())
        #expect(reduced.observer == nil && reduced.cacheSerializer == nil && reduced[OtherTag.self].isEmpty)
        #expect(reduced.imageCache == nil && reduced.callbackQueue == nil)
    }

    @Test func `Hint and dynamic range of the context override those of its decode options`() {
        var base = ImageDecodeOptions()
        base.formatHint = .svg
        base.decodeToHDR = true
        var context = WebImageContext()
        context.decodeOptions = base
        func made() -> ImageDecodeOptions { ImageDecodeOptions(context, options: [], key: "k") }
        #expect(made().formatHint == .svg && made().decodeToHDR)
        context.formatHint = .none
        context.decodeToHDR = false
        #expect(made().formatHint == nil && !made().decodeToHDR)
        context.formatHint = .format(.tiff)
        #expect(made().formatHint == .tiff)
    }
}
