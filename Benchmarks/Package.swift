// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// The programs that Scripts/bench measures with, each a folder in Sources.
let programs = [
    "memory-cache-bench", "hit-ratio-bench", "disk-bench", "jpeg-bench", "format-bench", "progressive-bench",
    "download-bench", "pipeline-bench",
]

/// Programs that link every format.
let linksFormats: Set = ["format-bench", "progressive-bench"]

/// Programs in which malloc is a counting one.
let countsMemory: Set = ["memory-cache-bench", "jpeg-bench"]

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
                    + (countsMemory.contains(name) ? ["CAllocationCounter"] : []),
                path: "Sources/\(name)",
                swiftSettings: swiftSettings
            )
        },
    swiftLanguageModes: [.v6]
)
