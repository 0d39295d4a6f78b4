// swift-tools-version: 6.2
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

let package = Package(
    name: "WebImage",
    products: [
        .library(name: "WebImage", targets: ["WebImage"]),
        .executable(name: "webimage", targets: ["webimage"]),
    ],
    targets: [
        systemLibrary("CCurl", apt: "libcurl4-openssl-dev"),
        systemLibrary("CWebP", apt: "libwebp-dev"),
        systemLibrary("CLCMS", apt: "liblcms2-dev"),
        systemLibrary("CYUV", apt: "libyuv-dev"),
        systemLibrary("CXXHash", apt: "libxxhash-dev"),
        systemLibrary("CMessageDigest", apt: "libmd-dev"),
        .target(name: "CLinux", path: "Sources/CLibraries/CLinux"),
        .target(name: "CPixels", path: "Sources/CLibraries/CPixels"),
        shims("CJPEGShims", linking: "jpeg"),
        shims("CPNGShims", linking: "png16", "isal"),
        .target(
            name: "WebImage",
            dependencies: [
                "CCurl", "CWebP", "CLCMS", "CYUV", "CXXHash", "CMessageDigest", "CLinux", "CPixels",
                "CJPEGShims", "CPNGShims",
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(name: "webimage", dependencies: ["WebImage", "CLinux"], swiftSettings: swiftSettings),
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
        // A counting malloc, the same as the benchmarks have. The tests run the program and must not depend on it: what they
        // depend on is linked into them.
        .target(name: "CHeapCounter", path: "Benchmarks/Sources/CAllocationCounter"),
        .executableTarget(
            name: "hit-cost",
            dependencies: ["WebImage", "CHeapCounter"],
            path: "Tests/Helpers/hit-cost",
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
            dependencies: ["WebImage", "TestSupport", "CLinux", "CPixels", "cache-hammer"],
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
