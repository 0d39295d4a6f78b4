import FoundationEssentials
import Glibc

/// What the program was started with.
struct Arguments {
    /// Folders, addresses, pictures and text files with a list of them.
    var sources: [String] = []
    /// Where the window is written as PNG when everything is there; nil to stay open.
    var screenshot: String?
    /// Whether the window is dark; nil as the desktop is.
    var isDark: Bool?
    /// The picture to open, counted from 1; nil for the grid.
    var viewer: Int?
    /// Whether the page about the caches is open.
    var showsCache = false
    /// Whether JPEG, PNG, GIF, WebP, BMP and icons are decoded in this process.
    var decodesCoreFormats = false
    var width = 1000
    var height = 720
    /// Where pictures are cached on disk; nil for the place of all programs.
    var cacheDirectory: String?

    static let help = """
        usage: webimage-gallery [options] SOURCE…

        Shows pictures: those of a folder, an address (http, https, data), a file, or of a text file that names one of these per line.

          --screenshot FILE   load everything, write the window as PNG, and exit
          --viewer N          open the Nth picture
          --cache             open the page about the caches
          --dark, --light     colours of the window
          --size WxH          size of the window in points (1000x720)
          --cache-dir DIR     where pictures are kept on disk
          --in-process        decode JPEG, PNG, GIF, WebP, BMP and icons in this process, with previews while they arrive; by default
                              every picture is decoded in a process without files, network and much memory

        Keys: arrows and Enter in the grid; in a picture Left, Right, Home and End, + - 0 1 for its size, Space to play, I for its
        facts, Escape to go back. Ctrl+O opens a folder, Ctrl+L pictures or lists, Ctrl+I the page about the caches; Ctrl+D for
        dark or light, F11 for the whole screen, Ctrl+Q to quit.
        """

    /// Reads them, or ends the program: with 0 after `--help`, with 64 when they make no sense.
    init(_ arguments: [String]) {
        var rest = arguments[...]
        func value(_ option: String) -> String {
            guard let value = rest.popFirst() else { Self.stop("\(option) needs a value") }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--screenshot": screenshot = value(argument)
            case "--viewer":
                let text = value(argument)
                guard let number = Int(text), number > 0 else {
                    Self.stop("--viewer: '\(text)' is no number from 1 on")
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
                    Self.stop("--size: '\(text)' is not WxH with sides of 200 to 16384")
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

    /// Says something on standard error.
    static func complain(_ message: String) {
        let line = Array("webimage-gallery: \(message)\n".utf8)
        _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
}
