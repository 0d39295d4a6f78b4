// swift-tools-version: 6.1
import Foundation
import PackageDescription

/// The programs that Scripts/bench measures with: one folder in Sources for each. A folder that is not there is left out.
let programs = [
    "memory-cache-bench",
    "hit-ratio-bench",
    "download-bench",
    "disk-bench",
    "jpeg-bench",
    "pipeline-bench",
]

let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Sources")

func hasSources(_ name: String) -> Bool {
    let path = sources.appendingPathComponent(name).path
    let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return files.contains { $0.hasSuffix(".swift") }
}

let package = Package(
    name: "WebImageBenchmarks",
    dependencies: [.package(name: "WebImage", path: "..")],
    targets: programs.filter(hasSources).map { name in
        .executableTarget(
            name: name,
            dependencies: [.product(name: "WebImage", package: "WebImage")],
            path: "Sources/\(name)",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
            ]
        )
    },
    swiftLanguageModes: [.v6]
)
