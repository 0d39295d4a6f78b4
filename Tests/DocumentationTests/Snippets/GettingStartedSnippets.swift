import Dispatch
import FoundationEssentials
import WebImage

enum GettingStartedSnippets {
    static func first(url: URL) async throws {
        // snippet: first call
        let image = try await WebImageManager.shared.image(with: url)
        // end
        show(image)
    }

    static func load(url: URL) async throws {
        // snippet: load
        let image = try await WebImageManager.shared.image(with: url)
        print(image.pixelWidth, image.pixelHeight, image.format)
        // end
    }

    static func result(url: URL) async throws {
        // snippet: result
        let result = try await WebImageManager.shared.result(with: url) { progress in
            print("\(progress.receivedByteCount) bytes, \(Int(progress.fraction * 100)) %")
        }
        print(result.cacheType, result.data?.count ?? 0, result.metrics?.total ?? 0)
        // end
    }

    static func operation(url: URL) {
        // snippet: operation
        let operation = WebImageManager.shared.loadImage(with: url) { result in
            switch result {
            case .success(let result): show(result.image)
            case .failure(let error): show(error)
            }
        }
        operation.setPriority(.high)
        operation.cancel()
        // end
    }

    static func callbackQueue() -> WebImageContext {
        // snippet: callback queue
        var context = WebImageContext()
        context.callbackQueue = CallbackQueue(DispatchQueue(label: "images"))
        // end
        return context
    }

    static func events(url: URL) async throws {
        // snippet: events
        for try await event in WebImageManager.shared.events(with: url) {
            switch event {
            case .progress(let progress): show(progress.fraction)
            case .result(let result): show(result.image)
            }
        }
        // end
    }

    static func thumbnail(url: URL) async throws {
        // snippet: thumbnail
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: 400, height: 300)
        let thumbnail = try await WebImageManager.shared.image(with: url, context: context)
        // end
        show(thumbnail)
    }

    static func drawing(image: Image) {
        // snippet: draw
        let bitmap = image.bitmap
        switch bitmap.pixelFormat {
        case .rgb8: print("GDK_MEMORY_R8G8B8")
        case .bgra8Premultiplied: print("GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, CAIRO_FORMAT_ARGB32")
        case .rgbaHalfPremultiplied: print("GDK_MEMORY_R16G16B16A16_FLOAT_PREMULTIPLIED")
        }
        bitmap.withUnsafeBytes { bytes in
            draw(bytes, width: bitmap.width, height: bitmap.height, bytesPerRow: bitmap.bytesPerRow)
        }
        // end
    }

    static func encode(image: Image) async throws -> Data {
        // snippet: encode
        var options = ImageEncodeOptions()
        options.compressionQuality = 0.85
        let jpeg = try await image.encoded(as: .jpeg, options: options)
        // end
        return jpeg
    }

    static func errors(url: URL) async {
        // snippet: errors
        do {
            show(try await WebImageManager.shared.image(with: url))
        } catch {
            switch error.code {
            case .cancelled: break
            case .invalidDownloadStatusCode: print("status \(error.statusCode ?? 0)")
            case .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost: print("no connection")
            case .limitExceeded: print("too much: \(error.limit?.name ?? "")")
            default: print(error)
            }
        }
        // end
    }

    static func lifecycle() {
        // snippet: exit handler
        WebImageLifecycle.installExitHandler()
        // end
    }
}
