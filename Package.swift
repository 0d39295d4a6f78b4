// swift-tools-version: 6.2
import Glibc
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// A C library that Swift can call directly. Its module map names the library to link; its packages are those of Debian and Fedora.
func systemLibrary(_ name: String, apt: String, yum: String) -> Target {
    .systemLibrary(name: name, path: "Sources/CLibraries/\(name)", providers: [.apt([apt]), .yum([yum])])
}

/// C wrappers for a library that Swift cannot call (longjmp, exceptions, macros).
func shims(_ name: String, linking libraries: String...) -> Target {
    .target(
        name: name,
        path: "Sources/CLibraries/\(name)",
        linkerSettings: libraries.map { .linkedLibrary($0) }
    )
}

/// One of the library's modules, with the modules it imports and its C modules.
func module(_ name: String, on modules: String..., c libraries: String...) -> Target {
    .target(
        name: name,
        dependencies: (modules + libraries).map { Target.Dependency(stringLiteral: $0) },
        exclude: ["README.md"],
        swiftSettings: swiftSettings
    )
}

/// The library's modules, from the lowest to the highest.
let modules = [
    "WebImageSupport", "WebImageModel", "WebImageHTTP", "WebImageCache", "WebImageCodecs", "WebImagePlayer",
    "WebImageIsolation", "WebImageLoading", "WebImage",
]

/// Returns the dependencies of a test target: those it names, and the modules below, whose internals all tests can see. Each is
/// listed, because a build checks only a target's direct dependencies to decide whether it must be recompiled.
func testDependencies(_ names: [String]) -> [Target.Dependency] {
    let highest = names.compactMap { modules.firstIndex(of: $0) }.max() ?? 1
    // The five modules in the middle do not depend on each other.
    let below = (2...6).contains(highest) ? modules.prefix(2) : modules.prefix(highest + 1)
    return (below.filter { !names.contains($0) } + names).map { Target.Dependency(stringLiteral: $0) }
}

/// Fakes and harnesses that several test targets use, with package visibility.
func testSupport(_ name: String, on dependencies: String...) -> Target {
    .target(
        name: name,
        dependencies: testDependencies(dependencies),
        path: "Tests/\(name)",
        swiftSettings: swiftSettings
    )
}

/// The tests of one module, named after it, or of a topic that needs several.
func tests(_ name: String, on dependencies: String..., exclude: [String] = []) -> Target {
    .testTarget(
        name: name,
        dependencies: testDependencies(dependencies + ["TestSupport"]),
        exclude: exclude,
        swiftSettings: swiftSettings
    )
}

/// A program that tests run.
func testProgram(_ name: String, on dependencies: String...) -> Target {
    .executableTarget(
        name: name,
        dependencies: testDependencies(dependencies),
        path: "Tests/Helpers/\(name)",
        swiftSettings: swiftSettings
    )
}

/// A program of `Examples`. Users build it with the package in that folder; tests build it here, without a second build of the library, and without
/// access to declarations that users do not see.
func example(_ name: String, on products: String...) -> Target {
    .executableTarget(
        name: "example-\(name)",
        dependencies: products.map { Target.Dependency(stringLiteral: $0) },
        path: "Examples/\(name)",
        exclude: ["README.md"],
        packageAccess: false
    )
}

/// The code of guides, without access to declarations that their readers do not see.
func snippets(_ name: String, in tests: String, on dependencies: String...) -> Target {
    .target(
        name: name,
        dependencies: dependencies.map { Target.Dependency(stringLiteral: $0) },
        path: "Tests/\(tests)/Snippets",
        packageAccess: false,
        swiftSettings: swiftSettings
    )
}

/// Returns whether compilers find a C header that contains a word which the oldest supported version introduced.
func hasHeader(_ path: String, naming word: String = "") -> Bool {
    let folders = (Context.environment["CPATH"] ?? "").split(separator: ":").map(String.init)
    let multiarch = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map { "/usr/include/\($0)" }
    return (folders + ["/usr/local/include"] + multiarch + ["/usr/include"]).contains { folder in
        guard let file = fopen("\(folder)/\(path)", "r") else { return false }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), file) != nil {
            if word.isEmpty || strstr(line, word) != nil { return true }
        }
        return false
    }
}

/// An optional format: a separate coder, with its C modules. It is left out if its library's header is missing or too old.
struct Format {
    let name: String
    /// One of them contains the word; which one differs between versions.
    let headers: [String]
    var word = ""
    let modules: [Target.Dependency]
    var library: Target?
    /// True if the library must not be linked into other programs: then the coder is in a module that only the worker program
    /// `webimage-decoder-NAME` and tests use, and no product.
    var isApart = false

    var product: String { isApart ? "webimage-decoder-" + name.lowercased() : "WebImage" + name }
    var module: String { isApart ? "WebImage\(name)Decoder" : product }

    /// Indicates whether the format is built: if WEBIMAGE_FORMATS names it, or, without that variable, if its library is installed.
    var isBuilt: Bool {
        guard let wanted = Context.environment["WEBIMAGE_FORMATS"] else {
            return headers.contains { hasHeader($0, naming: word) }
        }
        return wanted.split(separator: " ").contains { $0 == name }
    }

    var targets: [Target] {
        let coder = Target.target(
            name: module,
            dependencies: ["WebImageCodecs"] + modules,
            swiftSettings: swiftSettings
        )
        let targets = [coder] + (library.map { [$0] } ?? [])
        guard isApart else { return targets }
        let program = Target.executableTarget(
            name: product,
            dependencies: [.byNameItem(name: module, condition: nil), "WebImageIsolation"],
            swiftSettings: swiftSettings
        )
        return targets + [program]
    }
}

let allFormats = [
    Format(
        name: "TIFF",
        headers: ["tiffio.h"],
        word: "TIFFOpenOptions",
        modules: ["CTIFFShims", "CLCMS"],
        library: shims("CTIFFShims", linking: "tiff")
    ),
    Format(
        name: "SVG",
        headers: ["librsvg-2.0/librsvg/rsvg.h"],
        modules: ["CSVGShims"],
        library: shims("CSVGShims", linking: "rsvg-2", "cairo", "gobject-2.0", "glib-2.0")
    ),
    Format(
        name: "AVIF",
        headers: ["avif/avif.h"],
        word: "avoidLibYUV",
        modules: ["CAVIF", "CPixels"],
        library: systemLibrary("CAVIF", apt: "libavif-dev", yum: "libavif-devel")
    ),
    Format(
        name: "HEIF",
        headers: ["libheif/heif.h", "libheif/heif_decoding.h"],
        word: "heif_context_set_max_decoding_threads",
        modules: ["CHEIF", "CPixels"],
        library: shims("CHEIF", linking: "heif")
    ),
    Format(
        name: "JPEGXL",
        headers: ["jxl/decode.h"],
        modules: ["CJPEGXL", "CPixels"],
        library: systemLibrary("CJPEGXL", apt: "libjxl-dev", yum: "libjxl-devel")
    ),
    Format(
        name: "RAW",
        headers: ["libraw/libraw.h"],
        modules: ["CRAWShims"],
        library: shims("CRAWShims", linking: "raw_r")
    ),
    // poppler is GPL. The module WebImagePDF, which other programs link, only starts the worker program.
    Format(
        name: "PDF",
        headers: ["poppler/glib/poppler-document.h"],
        word: "poppler_document_new_from_bytes",
        modules: ["CPopplerShims"],
        library: shims("CPopplerShims", linking: "poppler-glib", "cairo", "gobject-2.0", "glib-2.0"),
        isApart: true
    ),
    // Builds of FFmpeg's libraries are usually GPL, so it is done as for PDF.
    Format(
        name: "Video",
        headers: ["libavformat/avformat.h"],
        word: "avformat_open_input",
        modules: ["CVideoShims", "CPixels"],
        library: shims("CVideoShims", linking: "avformat", "avcodec", "avutil", "swscale"),
        isApart: true
    ),
]
let formats = allFormats.filter(\.isBuilt)
let linkedFormats = formats.filter { !$0.isApart }
let formatProducts = (linkedFormats.map(\.product) + ["WebImagePDF", "WebImageVideo"]).map {
    Target.Dependency(stringLiteral: $0)
}
/// The coders for tests, also those that no product contains.
let formatModules = formatProducts + formats.filter(\.isApart).map { Target.Dependency(stringLiteral: $0.module) }

let package = Package(
    name: "WebImage",
    products: [
        .library(name: "WebImage", targets: ["WebImage"]),
        // Coders, the caches, and sandboxed decoders, for programs that need only those.
        .library(name: "WebImageCodecs", targets: ["WebImageCodecs"]),
        .library(name: "WebImageCache", targets: ["WebImageCache"]),
        .library(name: "WebImageIsolation", targets: ["WebImageIsolation"]),
        // A cache that machines share.
        .library(name: "WebImageFleet", targets: ["WebImageFleet"]),
        // All formats that are separate products.
        .library(name: "WebImageFormats", targets: ["WebImageFormats"]),
        .library(name: "WebImagePDF", targets: ["WebImagePDF"]),
        .library(name: "WebImageVideo", targets: ["WebImageVideo"]),
        // For tests of programs that use the library.
        .library(name: "WebImageTestSupport", targets: ["WebImageTestSupport"]),
        .executable(name: "webimage", targets: ["webimage"]),
        // The worker program that decodes isolated images.
        .executable(name: "webimage-decoder", targets: ["webimage-decoder"]),
    ],
    targets: [
        systemLibrary("CCurl", apt: "libcurl4-openssl-dev", yum: "libcurl-devel"),
        systemLibrary("CIDN2", apt: "libidn2-dev", yum: "libidn2-devel"),
        systemLibrary("CWebP", apt: "libwebp-dev", yum: "libwebp-devel"),
        systemLibrary("CLCMS", apt: "liblcms2-dev", yum: "lcms2-devel"),
        systemLibrary("CXXHash", apt: "libxxhash-dev", yum: "xxhash-devel"),
        .target(name: "CLinux", path: "Sources/CLibraries/CLinux"),
        .target(name: "CIsolation", path: "Sources/CLibraries/CIsolation"),
        .target(name: "CPixels", path: "Sources/CLibraries/CPixels"),
        // Lets the programs load libraries when they are needed. Libraries for others are linked as usual.
        .target(
            name: "CLazyLibraries",
            path: "Sources/CLibraries/CLazyLibraries",
            cSettings: formats.map { .define("WEBIMAGE_\($0.name)") }
        ),
        shims("CJPEGShims", linking: "jpeg"),
        shims("CPNGShims", linking: "png16", "isal"),
        shims("CChafaShims", linking: "chafa", "glib-2.0"),
        shims("CTLSShims", linking: "ssl", "crypto"),
        module("WebImageSupport", c: "CLinux", "CXXHash"),
        module("WebImageModel", on: "WebImageSupport", c: "CLinux", "CPixels"),
        module("WebImageHTTP", on: "WebImageModel", c: "CCurl", "CIDN2", "CLinux"),
        module("WebImageCache", on: "WebImageModel", c: "CLinux"),
        module("WebImageCodecs", on: "WebImageModel", c: "CWebP", "CLCMS", "CPixels", "CJPEGShims", "CPNGShims"),
        module("WebImagePlayer", on: "WebImageModel"),
        module("WebImageIsolation", on: "WebImageModel", c: "CIsolation"),
        module(
            "WebImageLoading",
            on: "WebImageHTTP",
            "WebImageCache",
            "WebImageCodecs",
            "WebImagePlayer",
            "WebImageIsolation",
            c: "CLinux"
        ),
        module("WebImage", on: "WebImageLoading"),
        module("WebImageFleet", on: "WebImageCache", "WebImageHTTP", c: "CTLSShims"),
        .target(
            name: "WebImageFormats",
            dependencies: ["WebImageCodecs", "WebImageIsolation"] + formatProducts,
            exclude: ["README.md"],
            swiftSettings: swiftSettings + linkedFormats.map { .define("WEBIMAGE_\($0.name)") }
        ),
        // Link no library for these formats, so they are always built.
        module("WebImagePDF", on: "WebImageCodecs"),
        module("WebImageVideo", on: "WebImageCodecs"),
        // The fakes that the library's tests and those of its users share.
        .target(name: "WebImageFakes", dependencies: ["WebImageModel"], swiftSettings: swiftSettings),
        .target(
            name: "WebImageTestSupport",
            dependencies: ["WebImage", "WebImageFakes"],
            exclude: ["README.md"],
            swiftSettings: swiftSettings
        ),
        // The options of the programs as help texts, manual pages and completions of shells.
        .target(name: "CommandHelp", swiftSettings: swiftSettings),
        .executableTarget(
            name: "webimage",
            dependencies: [
                "WebImage", "WebImageFleet", "WebImageFormats", "CommandHelp", "CLinux", "CChafaShims",
                "CLazyLibraries",
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "webimage-decoder",
            dependencies: ["WebImageCodecs", "WebImageFormats", "WebImageIsolation"],
            swiftSettings: swiftSettings
        ),
        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        testSupport("TestSupport", on: "WebImageModel", "WebImageFakes", "CLinux", "CTestSupport"),
        // These are only for tests; TestSupport is also for the programs that tests run.
        testSupport("ModelTestSupport", on: "WebImageModel", "WebImageFakes", "TestSupport"),
        testSupport("HTTPTestSupport", on: "WebImageHTTP", "ModelTestSupport", "TestSupport"),
        testSupport("CacheTestSupport", on: "WebImageCache", "ModelTestSupport", "TestSupport"),
        testSupport("CodecsTestSupport", on: "WebImageCodecs"),
        testSupport("LoadingTestSupport", on: "WebImageLoading", "HTTPTestSupport", "CacheTestSupport"),
        // What tests do in another process.
        testProgram("test-program", on: "WebImage", "TestSupport", "CTestSupport"),
        // A counting malloc, the same as in the benchmarks. The tests run the program and must not depend on it: their dependencies
        // are linked into them.
        .target(name: "CHeapCounter", path: "Benchmarks/Sources/CAllocationCounter"),
        .executableTarget(
            name: "heap-program",
            dependencies: testDependencies(["WebImage"]) + ["WebImageFormats", "TestSupport", "CHeapCounter"]
                + formatProducts,
            path: "Tests/Helpers/heap-program",
            swiftSettings: swiftSettings + linkedFormats.map { .define("WEBIMAGE_\($0.name)") }
        ),
        // A worker whose decoders crash, hang, take too much memory, and send invalid replies.
        testProgram("decode-hazards", on: "WebImage", "CIsolation"),
        example("CommandLine", on: "WebImage"),
        example("CustomCoder", on: "WebImage"),
        example("Server", on: "WebImage", "WebImageFormats"),
        tests("WebImageSupportTests", on: "WebImageSupport", "ModelTestSupport"),
        tests("WebImageModelTests", on: "WebImageModel", "ModelTestSupport"),
        tests("WebImageHTTPTests", on: "WebImageHTTP", "HTTPTestSupport", "CTestSupport"),
        tests("WebImageCacheTests", on: "WebImageCache", "CacheTestSupport"),
        tests("WebImageCodecsTests", on: "WebImageCodecs", "CodecsTestSupport", "ModelTestSupport", "CPixels"),
        tests("WebImagePlayerTests", on: "WebImagePlayer", "ModelTestSupport"),
        tests("WebImageIsolationTests", on: "WebImageIsolation", "ModelTestSupport", "CIsolation"),
        tests("WebImageLoadingTests", on: "WebImageLoading", "LoadingTestSupport", "CTestSupport"),
        tests("WebImageFleetTests", on: "WebImage", "WebImageFleet", "LoadingTestSupport", "webimage"),
        tests("AnimationTests", on: "WebImage", "CodecsTestSupport", "ModelTestSupport"),
        tests("CacheQueryTests", on: "WebImage", "LoadingTestSupport", "CTestSupport"),
        tests("DownloadTests", on: "WebImage", "LoadingTestSupport"),
        tests("HistoryTests", on: "WebImage", "LoadingTestSupport"),
        tests("HTTPCachingTests", on: "WebImage", "LoadingTestSupport", exclude: ["HTTPCacheSuite/Cases"]),
        tests("RegressionTests", on: "WebImage", "LoadingTestSupport", "CTestSupport", "CLinux"),
        tests("SandboxTests", on: "WebImage", "LoadingTestSupport"),
        .testTarget(
            name: "WebImageFormatsTests",
            dependencies: testDependencies(["WebImage"]) + formatModules + [
                "WebImageFormats", "ModelTestSupport", "TestSupport", "CPixels",
            ],
            exclude: ["Fixtures"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CommandLineTests",
            dependencies: testDependencies(["WebImage"]) + ["TestSupport", "CLinux", "webimage"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "DocumentationTests",
            dependencies: ["WebImage", "DocumentationSnippets", "TestSupport"],
            exclude: ["Snippets"],
            swiftSettings: swiftSettings
        ),
        snippets("DocumentationSnippets", in: "DocumentationTests", on: "WebImage", "WebImageFleet"),
        // Compiled as users compile their tests.
        .testTarget(
            name: "WebImageTestSupportTests",
            dependencies: ["WebImageTestSupport"],
            packageAccess: false,
            swiftSettings: swiftSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)

for format in formats {
    package.products.append(
        format.isApart
            ? .executable(name: format.product, targets: [format.product])
            : .library(name: format.product, targets: [format.product])
    )
    package.targets += format.targets
}

// Views are built if GTK 4.8 or newer is installed, unless WEBIMAGE_GTK (1 or 0) decides.
let hasGTK =
    switch Context.environment["WEBIMAGE_GTK"] {
    case "1": true
    case "0": false
    default: hasHeader("gtk-4.0/gtk/gtkpicture.h", naming: "gtk_picture_set_content_fit")
    }
if hasGTK {
    package.products += [
        .library(name: "WebImageGTK", targets: ["WebImageGTK"]),
        .executable(name: "webimage-gallery", targets: ["webimage-gallery"]),
    ]
    package.targets += [
        .systemLibrary(
            name: "CWebImageGTK4",
            path: "Sources/CLibraries/CWebImageGTK4",
            pkgConfig: "gtk4",
            providers: [.apt(["libgtk-4-dev"]), .yum(["gtk4-devel"])]
        ),
        .target(
            name: "CWebImageGTKShims",
            dependencies: ["CWebImageGTK4"],
            path: "Sources/CLibraries/CWebImageGTKShims"
        ),
        .target(
            name: "WebImageGTK",
            dependencies: ["WebImage", "CWebImageGTK4", "CWebImageGTKShims"],
            exclude: ["README.md"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "webimage-gallery",
            dependencies: [
                "WebImage", "WebImageFormats", "WebImageGTK", "CommandHelp", "CWebImageGTK4", "CLazyLibraries",
            ],
            swiftSettings: swiftSettings
        ),
        // A GTK program as users write it, unlike the tests, which run their own main loop.
        testProgram("gtk-program", on: "WebImage", "WebImageGTK", "CWebImageGTK4", "TestSupport"),
        example("GTKGallery", on: "WebImage", "WebImageGTK"),
        .target(
            name: "CGTKTestSupport",
            dependencies: ["CWebImageGTK4", "CWebImageGTKShims"],
            path: "Tests/CGTKTestSupport"
        ),
        .testTarget(
            name: "WebImageGTKTests",
            dependencies: testDependencies(["WebImage"]) + [
                "WebImageGTK", "CWebImageGTK4", "CGTKTestSupport", "CTestSupport", "ModelTestSupport", "TestSupport",
                "ViewSnippets", "webimage-gallery",
            ],
            exclude: ["Snippets"],
            swiftSettings: swiftSettings
        ),
        snippets("ViewSnippets", in: "WebImageGTKTests", on: "WebImage", "WebImageGTK", "CWebImageGTK4"),
    ]
}

// The server is built if libmicrohttpd and GnuTLS are installed, unless WEBIMAGE_SERVER (1 or 0) decides.
let hasServer =
    switch Context.environment["WEBIMAGE_SERVER"] {
    case "1": true
    case "0": false
    default: hasHeader("microhttpd.h") && hasHeader("gnutls/crypto.h")
    }
if hasServer {
    package.products += [
        .library(name: "WebImageServer", targets: ["WebImageServer"]),
        .executable(name: "webimage-server", targets: ["webimage-server"]),
    ]
    package.targets += [
        systemLibrary("CGnuTLS", apt: "libgnutls28-dev", yum: "gnutls-devel"),
        shims("CMicrohttpd", linking: "microhttpd"),
        module("WebImageServer", on: "WebImage", "WebImageFleet", c: "CGnuTLS", "CLinux", "CMicrohttpd"),
        .executableTarget(
            name: "webimage-server",
            dependencies: [
                "WebImage", "WebImageFleet", "WebImageFormats", "WebImageServer", "CommandHelp", "CMicrohttpd",
            ],
            swiftSettings: swiftSettings
        ),
        tests(
            "WebImageServerTests",
            on: "WebImage",
            "WebImageFleet",
            "WebImageServer",
            "HTTPTestSupport",
            "ModelTestSupport",
            "CLinux",
            "CMicrohttpd",
            "ServerSnippets",
            "webimage-server",
            exclude: ["Snippets"]
        ),
        snippets("ServerSnippets", in: "WebImageServerTests", on: "WebImageServer"),
    ]
    // Its tests start two servers.
    package.targets.first { $0.name == "WebImageFleetTests" }?.dependencies.append("webimage-server")
}

// Fuzzing: with WEBIMAGE_FUZZ=1 a program for libFuzzer, which Scripts/fuzz builds, else tests of the same targets. Both use the
// same sources, so only one of them is built.
let fuzzDependencies =
    testDependencies(["WebImage"]) + ["WebImageFleet", "WebImageFormats", "TestSupport", "CCurl"] + formatModules
    + (hasServer ? ["WebImageServer"] : [])
if Context.environment["WEBIMAGE_FUZZ"] == "1" {
    package.targets.append(
        .executableTarget(
            name: "webimage-fuzz",
            dependencies: fuzzDependencies,
            path: "Fuzz",
            exclude: ["Dictionaries", "Regressions", "Tests"],
            sources: ["Targets", "Driver"],
            swiftSettings: swiftSettings
        )
    )
} else {
    package.targets.append(
        .testTarget(
            name: "FuzzTests",
            dependencies: fuzzDependencies + ["ModelTestSupport"],
            path: "Fuzz",
            exclude: ["Dictionaries", "Regressions", "Driver"],
            sources: ["Targets", "Tests"],
            swiftSettings: swiftSettings
        )
    )
}

// These targets use all formats.
if formats.count < allFormats.count {
    let tests = ["WebImageFormatsTests", "CommandLineTests", "FuzzTests", "webimage-fuzz"]
    package.targets.removeAll { tests.contains($0.name) }
}

// Scripts build only some targets and their dependencies.
if let names = Context.environment["WEBIMAGE_TARGETS"] {
    var needed = Set(names.split(separator: " ").map(String.init))
    var count = 0
    while count < needed.count {
        count = needed.count
        for target in package.targets where needed.contains(target.name) {
            for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
}

// Only these modules are optimized, whatever the configuration, and our C code, which is compiled quickly and runs over pixels.
if let names = Context.environment["WEBIMAGE_OPTIMIZED"] {
    let optimized = names.split(separator: " ").map(String.init)
    for target in package.targets where target.type != .system {
        if target.path?.hasPrefix("Sources/CLibraries/") == true || target.name == "CTestSupport" {
            target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-O2"])]
            target.cxxSettings = (target.cxxSettings ?? []) + [.unsafeFlags(["-O2"])]
        } else {
            let level = optimized.contains(target.name) ? "-O" : "-Onone"
            target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags([level])]
        }
    }
}
