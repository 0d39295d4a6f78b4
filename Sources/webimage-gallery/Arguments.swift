import CommandHelp
import FoundationEssentials
import Glibc
import WebImage

/// The command line arguments.
struct Arguments {
    /// Folders, URLs, image files, and text files that list these.
    var sources: [String] = []
    /// The PNG file for the screenshot of the loaded window; nil to stay open.
    var screenshot: String?
    /// True for a dark window, false for a light one; nil for the desktop's setting.
    var isDark: Bool?
    /// True to exit as soon as the first screen is complete.
    var endsWithFirstScreen = false
    /// The number of the image to open, counted from 1; nil for the grid.
    var viewer: Int?
    /// True if the cache page is open.
    var showsCache = false
    /// True if JPEG, PNG, GIF, WebP, BMP and icons are decoded in this process.
    var decodesCoreFormats = false
    /// The place where images are decoded.
    var decoding: DecodingPlace {
        var isolation = decodesCoreFormats ? DecodeIsolation.risky : DecodeIsolation()
        // An image of a gigapixel takes some seconds.
        isolation.maximumDecodeDuration = 20
        return .isolated(isolation)
    }
    var width = 1000
    var height = 720
    /// The directory of the disk cache; nil for the shared one.
    var cacheDirectory: String?

    static let options = [
        OptionSpec("--screenshot", value: "FILE", "load all images, write the window as PNG, and exit"),
        OptionSpec("--first-screen", "print a line and exit as soon as the first screen of thumbnails is shown"),
        OptionSpec("--viewer", value: "N", "open the Nth image"),
        OptionSpec("--cache", "open the cache page"),
        OptionSpec("--dark", "dark colour scheme"),
        OptionSpec("--light", "light colour scheme"),
        OptionSpec("--size", value: "WxH", "window size in points (default: 1000x720)"),
        OptionSpec("--cache-dir", value: "DIR", "directory of the disk cache"),
        OptionSpec(
            "--in-process",
            "decode JPEG, PNG, GIF, WebP, BMP and icons in this process, with previews while they load"
        ),
        OptionSpec("--version", "print the version"),
    ]

    static var description: ProgramDescription {
        var program = ProgramDescription(
            name: "webimage-gallery",
            title: "show images from disk and from the web in a window",
            usage: "[options] SOURCE…",
            description: [
                """
                Shows images from folders, files, URLs (http, https, data, or what GIO reads, such as smb), or text files with \
                one of these per line.
                """,
                """
                Every image is decoded in a sandboxed process without file or network access and with limited memory, unless \
                --in-process is given.
                """,
                """
                Thumbnails of local images are read from the desktop's cache ($XDG_CACHE_HOME/thumbnails) if it has them.
                """,
            ],
            options: options
        )
        program.sections = [
            ManualSection(
                "KEYS",
                [
                    ManualItem("arrows, Enter", "In the grid: navigate, open the image."),
                    ManualItem(
                        "Left, Right, Home, End",
                        "In the viewer: previous, next, first, last image."
                    ),
                    ManualItem("+, -, 0, 1", "In the viewer: zoom in, zoom out, fit, actual size."),
                    ManualItem("Space", "Play or pause the animation."),
                    ManualItem("I", "Image info."),
                    ManualItem("Escape", "Go back."),
                    ManualItem("Ctrl+O, Ctrl+L", "Open a folder; open images or URL lists."),
                    ManualItem("Ctrl+I", "The cache page."),
                    ManualItem("Ctrl+D, F11, Ctrl+Q", "Dark or light, full screen, quit."),
                ]
            ),
            ManualSection(
                "EXIT STATUS",
                [
                    ManualItem("0", "The window was closed, or the screenshot is complete."),
                    ManualItem(
                        "1",
                        "A source cannot be read, an image is missing in the screenshot, or --first-screen has no images."
                    ),
                    ManualItem("64", "The command line is invalid."),
                    ManualItem("69", "There is no display."),
                ]
            ),
        ]
        program.seeAlso = ["webimage(1)"]
        return program
    }

    static var help: String {
        let program = description
        let keys = program.sections.prefix(1).flatMap(\.items)
        return """
            Usage: \(program.name) \(program.usage)

            \(program.description.map { $0.wrapped(to: 100) }.joined(separator: "\n\n"))

            Options:
            \(OptionSpec.listing(program.options, width: 22))
            Keys:

            """ + OptionSpec.listing(keys.map { OptionSpec($0.word, $0.text) }, width: 26)
    }

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
            case "--first-screen": endsWithFirstScreen = true
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
                print(Self.help, terminator: "")
                exit(0)
            case "--version":
                print("webimage-gallery \(Release.version)")
                exit(0)
            case "--generate":
                guard let text = Self.description.generate(Array(rest)) else {
                    Self.stop("--generate takes bash, zsh, fish or man")
                }
                print(text, terminator: "")
                exit(0)
            case "--":
                sources += rest
                rest = []
            default:
                guard !argument.hasPrefix("-") else { Self.stop("unknown option '\(argument)' (see --help)") }
                sources.append(argument)
            }
        }
        if endsWithFirstScreen, viewer != nil || showsCache {
            Self.stop("--first-screen cannot be combined with --viewer or --cache")
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
