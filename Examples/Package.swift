// swift-tools-version: 6.2
import Glibc
import PackageDescription

/// An example: a program in the folder of its name.
func example(_ name: String, uses products: String...) -> Target {
    .executableTarget(
        name: name,
        dependencies: products.map { .product(name: $0, package: "WebImage") },
        path: name,
        exclude: ["README.md"]
    )
}

// WebImage builds its views where GTK's headers are of 4.8 or newer, unless the environment says yes or no (WEBIMAGE_GTK=1, 0).
let hasGTK =
    switch Context.environment["WEBIMAGE_GTK"] {
    case "1": true
    case "0": false
    default: access("/usr/include/gtk-4.0/gtk/gtk.h", R_OK) == 0
    }

let package = Package(
    name: "WebImageExamples",
    dependencies: [.package(name: "WebImage", path: "..")],
    targets: [
        example("CommandLine", uses: "WebImage"),
        example("CustomCoder", uses: "WebImage"),
        example("Server", uses: "WebImage", "WebImageFormats"),
    ] + (hasGTK ? [example("GTKGallery", uses: "WebImage", "WebImageGTK")] : []),
    swiftLanguageModes: [.v6]
)
