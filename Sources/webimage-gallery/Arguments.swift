import FoundationEssentials
import Glibc

/// The command line arguments.
struct Arguments {
    /// Folders, URLs, image files, and text files that list these.
    var sources: [String] = []
    /// The PNG file for the screenshot of the loaded window; nil to stay open.
    var screenshot: String?
    /// True for a dark window, false for a light one; nil for the desktop's setting.
    var isDark: Bool?
    /// The number of the image to open, counted from 1; nil for the grid.
    var viewer: Int?
    /// True if the cache page is open.
    var showsCache = false
    /// True if JPEG, PNG, GIF, WebP, BMP and icons are decoded in this process.
    var decodesCoreFormats = false
    var width = 1000
    var height = 720
    /// The directory of the disk cache; nil for the shared one.
    var cacheDirectory: String?

    static let help = """
        usage: webimage-gallery [options] SOURCE…

        Shows images from folders, files, URLs (http, https, data), or text files with one of these per line.

          --screenshot FILE   load all images, write the window as PNG to FILE, and exit
          --viewer N          open the Nth image
          --cache             open the cache page
          --dark, --light     colour scheme of the window
          --size WxH          window size in points (default: 1000x720)
          --cache-dir DIR     directory of the disk cache
          --in-process        decode JPEG, PNG, GIF, WebP, BMP and icons in this process, with previews while they load; by default
                              every image is decoded in a sandboxed process without file or network access and with limited memory

        Keys in the grid: arrows, Enter. In the viewer: Left, Right, Home, End to navigate; + and - to zoom, 0 to fit, 1 for actual
        size; Space to play or pause; I for image info; Escape to go back. Anywhere: Ctrl+O opens a folder, Ctrl+L opens images or
        URL lists, Ctrl+I shows the caches, Ctrl+D toggles dark mode, F11 toggles full screen, Ctrl+Q quits.
        """

    /// Parses the arguments. Exits with status 0 after `--help`, and with 64 if they are invalid.
    init(_ arguments: [String]) {
        var rest = arguments[...]
        func value(_ option: String) -> String {
            guard let value = rest.popFirst() else { Self.stop("\(option) requires a value") }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--screenshot": screenshot = value(argument)
            case "--viewer":
                let text = value(argument)
                guard let number = Int(text), number > 0 else {
                    Self.stop("--viewer: invalid number '\(text)' (must be at least 1)")
                }
                viewer = number
            case "--cache": showsCache = true
            case "--dark": isDark = true
            case "--light": isDark = false
            case "--in-process": decodesCoreFormats = true
            case "--size":
                let text = value(argument)
                let sides = text.split(separator: "x").compactMap { Int($0) }
                guard sides.count == 2, sides.allSatisfy({ (200...16_384).contains($0) }) else {
                    Self.stop("--size: invalid size '\(text)' (expected WxH, 200 to 16384 each)")
                }
                (width, height) = (sides[0], sides[1])
            case "--cache-dir": cacheDirectory = value(argument)
            case "-h", "--help":
                print(Self.help)
                exit(0)
            case "--":
                sources += rest
                rest = []
            default:
                guard !argument.hasPrefix("-") else { Self.stop("unknown option '\(argument)' (see --help)") }
                sources.append(argument)
            }
        }
    }

    private static func stop(_ message: String) -> Never {
        complain(message)
        exit(64)
    }

    /// Writes a message to standard error.
    static func complain(_ message: String) {
        let line = Array("webimage-gallery: \(message)\n".utf8)
        _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
}
