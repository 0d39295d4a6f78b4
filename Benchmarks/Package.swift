// swift-tools-version: 6.2
import Glibc
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// The programs that Scripts/bench measures with, each a folder in Sources.
let programs = [
    "memory-cache-bench", "hit-ratio-bench", "disk-bench", "jpeg-bench", "format-bench", "progressive-bench",
    "download-bench", "pipeline-bench", "cold-load-bench", "isolation-bench", "region-bench", "fleet-bench",
]

/// Programs that link every format.
let linksFormats: Set = ["format-bench", "progressive-bench"]

/// Programs that draw SVG themselves.
let draws: Set = ["format-bench"]

/// Programs that use a cache that machines share.
let shares: Set = ["fleet-bench"]

/// Programs in which malloc is a counting one.
let countsMemory: Set = ["memory-cache-bench", "jpeg-bench"]

/// Programs with windows: where GTK's headers are, as in the library's own package.
let hasGTK =
    switch Context.environment["WEBIMAGE_GTK"] {
    case "1": true
    case "0": false
    default: access("/usr/include/gtk-4.0/gtk/gtk.h", R_OK) == 0
    }
let windowPrograms = hasGTK ? ["gtk-grid-bench", "gtk-animation-bench"] : []

let package = Package(
    name: "WebImageBenchmarks",
    dependencies: [.package(name: "WebImage", path: "..")],
    targets: [
        .target(name: "BenchSupport", swiftSettings: swiftSettings), .target(name: "CAllocationCounter"),
    ]
        + programs.map { name in
            .executableTarget(
                name: name,
                dependencies: ["BenchSupport", .product(name: "WebImage", package: "WebImage")]
                    + (linksFormats.contains(name) ? [.product(name: "WebImageFormats", package: "WebImage")] : [])
                    + (shares.contains(name) ? [.product(name: "WebImageFleet", package: "WebImage")] : [])
                    + (draws.contains(name) ? [.product(name: "WebImageSVG", package: "WebImage")] : [])
                    + (countsMemory.contains(name) ? ["CAllocationCounter"] : []),
                path: "Sources/\(name)",
                swiftSettings: swiftSettings
            )
        }
        + (hasGTK ? [.systemLibrary(name: "CBenchGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])])] : [])
        + windowPrograms.map { name in
            .executableTarget(
                name: name,
                dependencies: [
                    "BenchSupport", "CBenchGTK", .product(name: "WebImage", package: "WebImage"),
                    .product(name: "WebImageGTK", package: "WebImage"),
                ],
                path: "Sources/\(name)",
                swiftSettings: swiftSettings
            )
        },
    swiftLanguageModes: [.v6]
)
