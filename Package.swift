// swift-tools-version: 6.2
import Glibc
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// A C library that Debian packages and Swift calls as it is. Its module map names the library to link.
func systemLibrary(_ name: String, apt package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/CLibraries/\(name)", providers: [.apt([package])])
}

/// C code of ours around a library that Swift cannot call (longjmp, macros).
func shims(_ name: String, linking libraries: String...) -> Target {
    .target(
        name: name,
        path: "Sources/CLibraries/\(name)",
        linkerSettings: libraries.map { .linkedLibrary($0) }
    )
}

/// A format that not every user wants to link: a coder of its own, with the C modules it needs.
func format(_ name: String, on modules: Target.Dependency...) -> Target {
    .target(name: name, dependencies: ["WebImage"] + modules, swiftSettings: swiftSettings)
}

let package = Package(
    name: "WebImage",
    products: [
        .library(name: "WebImage", targets: ["WebImage"]),
        // Formats that not everybody wants to link, each for itself and all together.
        .library(name: "WebImageTIFF", targets: ["WebImageTIFF"]),
        .library(name: "WebImageSVG", targets: ["WebImageSVG"]),
        .library(name: "WebImageFormats", targets: ["WebImageFormats"]),
        .library(name: "WebImageAVIF", targets: ["WebImageAVIF"]),
        .library(name: "WebImageHEIF", targets: ["WebImageHEIF"]),
        .library(name: "WebImageJPEGXL", targets: ["WebImageJPEGXL"]),
        .executable(name: "webimage", targets: ["webimage"]),
        // In which isolated pictures are decoded.
        .executable(name: "webimage-decoder", targets: ["webimage-decoder"]),
    ],
    targets: [
        systemLibrary("CCurl", apt: "libcurl4-openssl-dev"),
        systemLibrary("CIDN2", apt: "libidn2-dev"),
        systemLibrary("CWebP", apt: "libwebp-dev"),
        systemLibrary("CLCMS", apt: "liblcms2-dev"),
        systemLibrary("CYUV", apt: "libyuv-dev"),
        systemLibrary("CXXHash", apt: "libxxhash-dev"),
        systemLibrary("CMessageDigest", apt: "libmd-dev"),
        .target(name: "CLinux", path: "Sources/CLibraries/CLinux"),
        .target(name: "CIsolation", path: "Sources/CLibraries/CIsolation"),
        .target(name: "CPixels", path: "Sources/CLibraries/CPixels"),
        shims("CJPEGShims", linking: "jpeg"),
        shims("CPNGShims", linking: "png16", "isal"),
        shims("CTIFFShims", linking: "tiff"),
        shims("CChafaShims", linking: "chafa", "glib-2.0"),
        shims("CSVGShims", linking: "rsvg-2", "cairo", "gobject-2.0", "glib-2.0"),
        .target(
            name: "WebImage",
            dependencies: [
                "CCurl", "CIDN2", "CWebP", "CLCMS", "CYUV", "CXXHash", "CMessageDigest", "CLinux", "CIsolation",
                "CPixels",
                "CJPEGShims", "CPNGShims",
            ],
            swiftSettings: swiftSettings
        ),
        format("WebImageTIFF", on: "CTIFFShims", "CLCMS"),
        format("WebImageSVG", on: "CSVGShims"),
        systemLibrary("CAVIF", apt: "libavif-dev"),
        systemLibrary("CHEIF", apt: "libheif-dev"),
        systemLibrary("CJPEGXL", apt: "libjxl-dev"),
        format("WebImageAVIF", on: "CAVIF", "CPixels", "CYUV"),
        format("WebImageHEIF", on: "CHEIF", "CPixels"),
        format("WebImageJPEGXL", on: "CJPEGXL", "CPixels"),
        format("WebImageFormats", on: "WebImageTIFF", "WebImageSVG", "WebImageAVIF", "WebImageHEIF", "WebImageJPEGXL"),
        .executableTarget(
            name: "webimage",
            dependencies: ["WebImage", "WebImageFormats", "CLinux", "CChafaShims"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "webimage-decoder",
            dependencies: ["WebImage", "WebImageFormats"],
            swiftSettings: swiftSettings
        ),
        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(
            name: "TestSupport",
            dependencies: ["WebImage", "CLinux", "CTestSupport"],
            path: "Tests/TestSupport",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "cache-hammer",
            dependencies: ["WebImage", "TestSupport"],
            path: "Tests/Helpers/cache-hammer",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "disk-faults",
            dependencies: ["WebImage", "TestSupport", "CTestSupport"],
            path: "Tests/Helpers/disk-faults",
            swiftSettings: swiftSettings
        ),
        // A counting malloc, the same as the benchmarks have. The tests run the program and must not depend on it: what they
        // depend on is linked into them.
        .target(name: "CHeapCounter", path: "Benchmarks/Sources/CAllocationCounter"),
        .executableTarget(
            name: "hit-cost",
            dependencies: ["WebImage", "CHeapCounter"],
            path: "Tests/Helpers/hit-cost",
            swiftSettings: swiftSettings
        ),
        // A worker whose decoders crash, hang, take too much, and lie.
        .executableTarget(
            name: "decode-hazards",
            dependencies: ["WebImage", "CIsolation"],
            path: "Tests/Helpers/decode-hazards",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "decode-memory",
            dependencies: ["WebImage", "WebImageFormats", "TestSupport", "CHeapCounter"],
            path: "Tests/Helpers/decode-memory",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "memory-storm",
            dependencies: ["WebImage", "CTestSupport"],
            path: "Tests/Helpers/memory-storm",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "main-queue",
            dependencies: ["WebImage", "TestSupport", "CTestSupport"],
            path: "Tests/Helpers/main-queue",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "play-animation",
            dependencies: ["WebImage"],
            path: "Tests/Helpers/play-animation",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "WebImageTests",
            dependencies: [
                "WebImage", "TestSupport", "CTestSupport", "CLinux", "CIsolation", "CPixels", "cache-hammer",
            ],
            exclude: ["Fixtures", "HTTPCacheSuite/Cases"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "WebImageFormatsTests",
            dependencies: [
                "WebImage", "WebImageTIFF", "WebImageSVG", "WebImageAVIF", "WebImageHEIF", "WebImageJPEGXL",
                "WebImageFormats", "TestSupport", "CPixels",
            ],
            exclude: ["Fixtures"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CommandLineTests",
            dependencies: ["WebImage", "TestSupport", "CLinux", "webimage"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "DocumentationTests",
            dependencies: ["WebImage", "TestSupport"],
            swiftSettings: swiftSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)

// Views: where GTK's headers are, unless the environment says yes or no (WEBIMAGE_GTK=1, 0).
let hasGTK =
    switch Context.environment["WEBIMAGE_GTK"] {
    case "1": true
    case "0": false
    default: access("/usr/include/gtk-4.0/gtk/gtk.h", R_OK) == 0
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
            providers: [.apt(["libgtk-4-dev"])]
        ),
        .target(
            name: "CWebImageGTKShims",
            dependencies: ["CWebImageGTK4"],
            path: "Sources/CLibraries/CWebImageGTKShims"
        ),
        .target(
            name: "WebImageGTK",
            dependencies: ["WebImage", "CWebImageGTK4", "CWebImageGTKShims"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "webimage-gallery",
            dependencies: ["WebImage", "WebImageFormats", "WebImageGTK", "CWebImageGTK4"],
            swiftSettings: swiftSettings
        ),
        // A program with widgets as users write them, which the tests, whose main loop is their own, are not.
        .executableTarget(
            name: "gtk-program",
            dependencies: ["WebImage", "WebImageGTK", "CWebImageGTK4", "TestSupport"],
            path: "Tests/Helpers/gtk-program",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "CGTKTestSupport",
            dependencies: ["CWebImageGTK4", "CWebImageGTKShims"],
            path: "Tests/CGTKTestSupport"
        ),
        .testTarget(
            name: "WebImageGTKTests",
            dependencies: [
                "WebImage", "WebImageGTK", "CWebImageGTK4", "CGTKTestSupport", "TestSupport", "webimage-gallery",
            ],
            swiftSettings: swiftSettings
        ),
    ]
}

// What searches for bytes that break something (Fuzz): with WEBIMAGE_FUZZ=1 a program for libFuzzer, which Scripts/fuzz builds, else
// tests of the same targets. Both are of the same sources, so there is only one of them.
let fuzzDependencies: [Target.Dependency] = [
    "WebImage", "WebImageTIFF", "WebImageSVG", "WebImageAVIF", "WebImageHEIF", "WebImageJPEGXL", "WebImageFormats",
    "TestSupport", "CCurl",
]
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
            dependencies: fuzzDependencies,
            path: "Fuzz",
            exclude: ["Dictionaries", "Regressions", "Driver"],
            sources: ["Targets", "Tests"],
            swiftSettings: swiftSettings
        )
    )
}

// What sanitized builds can do without: it takes time to build, and neither threads meet there nor C is handed memory. Targets by
// their names, files as TARGET/PATH.
let leftOut = (Context.environment["WEBIMAGE_LEFT_OUT"] ?? "").split(separator: " ").map(String.init)
package.targets.removeAll { leftOut.contains($0.name) }
package.products.removeAll { leftOut.contains($0.name) }
for target in package.targets {
    let folder = target.name + "/"
    target.exclude += leftOut.filter { $0.hasPrefix(folder) }.map { String($0.dropFirst(folder.count)) }
}
