public import WebImageCodecs
import WebImageIsolation
import WebImagePDF
import WebImageVideo

#if WEBIMAGE_TIFF
    import WebImageTIFF
#endif
#if WEBIMAGE_SVG
    import WebImageSVG
#endif
#if WEBIMAGE_RAW
    import WebImageRAW
#endif
#if WEBIMAGE_AVIF
    import WebImageAVIF
#endif
#if WEBIMAGE_HEIF
    import WebImageHEIF
#endif
#if WEBIMAGE_JPEGXL
    import WebImageJPEGXL
#endif

/// The formats that are separate products: TIFF, SVG, PDF, videos, AVIF, HEIF, JPEG XL and the raw files of cameras. Formats whose
/// library was missing when the package was built are left out. PDF and videos need no library at build time; `webimage-decoder-pdf`
/// and `webimage-decoder-video` must be installed where documents and stills of videos are shown.
public enum WebImageFormats {
    /// A coder for each format, in the order in which they are registered.
    public static var coders: [any ImageCoder] {
        var coders: [any ImageCoder] = [pdf, video]
        #if WEBIMAGE_TIFF
            coders.append(TIFFCoder())
        #endif
        #if WEBIMAGE_SVG
            coders.append(svg)
        #endif
        #if WEBIMAGE_AVIF
            coders.append(AVIFCoder())
        #endif
        #if WEBIMAGE_HEIF
            coders.append(HEIFCoder())
        #endif
        #if WEBIMAGE_JPEGXL
            coders.append(JPEGXLCoder())
        #endif
        #if WEBIMAGE_RAW
            coders.append(raw)
        #endif
        return coders
    }

    /// Draws in worker processes of a separate program, which links poppler.
    private static let pdf = IsolatedImageCoder(DecodeIsolation(formats: [.pdf]), base: PDFCoder())

    #if WEBIMAGE_RAW
        /// Decodes in worker processes: LibRaw parses the formats of hundreds of cameras. Previews take milliseconds; developing an image of
        /// 50 megapixels takes more than the usual 5 s.
        private static let raw: IsolatedImageCoder = {
            var isolation = DecodeIsolation(formats: [.raw])
            isolation.maximumDecodeDuration = 30
            return IsolatedImageCoder(
                isolation,
                base: RAWCoder(),
                advice: "to decode raw files in this process, add RAWCoder()"
            )
        }()
    #endif
    /// Decodes in worker processes of a separate program, which links FFmpeg's libraries.
    private static let video = IsolatedImageCoder(DecodeIsolation(formats: ImageFormat.videos), base: VideoCoder())

    #if WEBIMAGE_SVG
        /// Decodes in worker processes: librsvg cannot be cancelled, and limits neither its time nor its memory.
        private static let svg = IsolatedImageCoder(
            DecodeIsolation(formats: [.svg]),
            base: SVGCoder(),
            advice: "to draw SVG in this process, use SVGCoder(maximumInProcessByteCount:)"
        )
    #endif

    /// Registers the coders of all formats. Coders that are already registered stay where they are, so the call is idempotent.
    ///
    /// SVG is decoded in worker processes, also by managers whose ``WebImage/WebImageManager/decoding`` is `.inProcess`: the
    /// program needs a worker (``WebImage/DecodeWorker``). Without one, each SVG fails with
    /// ``WebImage/WebImageError/Code/decoderUnavailable``. To draw small documents in this process, add
    /// `SVGCoder(maximumInProcessByteCount:)` to the manager, before or after this call.
    ///
    /// PDF is always drawn in worker processes, by the separate program `webimage-decoder-pdf`; frames of videos are decoded by
    /// `webimage-decoder-video`. Raw files of cameras are decoded in workers, too, unless `RAWCoder()` is added to the manager.
    ///
    /// - Parameter manager: where to register them; the shared manager by default.
    public static func registerAll(in manager: ImageCodersManager = .shared) {
        manager.addMissing(coders) { coder in
            // Comparing types first is quick; a cast of a value that is not a class instance looks through all conformances of the program.
            guard type(of: coder) == IsolatedImageCoder.self else { return type(of: coder) }
            return type(of: (coder as? IsolatedImageCoder)?.base ?? coder)
        }
    }
}
