import CommandHelp

/// `webimage --generate`: manual pages and completions of shells, from what `--help` prints. `Scripts/install` uses it; users need not know it.
extension Program {
    static func generate(_ words: [String]) -> Int32 {
        guard let text = description.generate(words) else {
            Terminal.printError("--generate takes bash, zsh, fish, man, man COMMAND or commands")
            return ExitStatus.usage
        }
        Terminal.print(text)
        return ExitStatus.success
    }

    static var description: ProgramDescription {
        var program = ProgramDescription(
            name: "webimage",
            title: "load, convert and cache images from the web",
            usage: "<command> [options] …",
            description: [
                introduction,
                "\(sources) Images from the network are kept in a cache on disk, and are not downloaded again.",
                "Each command has a manual page. 'webimage <command> --help' lists its options, too.",
            ],
            options: [OptionSpec("--version", "print the version")]
        )
        program.commands = commands.map {
            CommandDescription(name: $0.name, usage: $0.usage, summary: $0.summary, options: $0.specs)
        }
        program.words = [
            "--format": OutputArguments.formats.compactMap(\.names.first),
            "--cache-policy": ["immutable", "http", "revalidate", "ttl="],
        ]
        program.sections = [
            ManualSection(
                "EXIT STATUS",
                [
                    ManualItem("\(ExitStatus.success)", "All sources were loaded."),
                    ManualItem(
                        "\(ExitStatus.failure)",
                        "At least one source failed; standard error has a line for each."
                    ),
                    ManualItem("\(ExitStatus.usage)", "The command line is invalid."),
                    ManualItem("\(ExitStatus.system)", "The system could not create threads."),
                ]
            ),
            ManualSection(
                "ENVIRONMENT",
                [
                    ManualItem(
                        "XDG_CACHE_HOME",
                        "The parent of the cache directory webimage/; $HOME/.cache by default."
                    ),
                    ManualItem(
                        "http_proxy, https_proxy, no_proxy",
                        "Proxies, as for curl(1). They are ignored with --untrusted."
                    ),
                    ManualItem("NO_COLOR", "If not empty, progress has no colors."),
                    ManualItem(
                        "WEBIMAGE_DECODER",
                        "The program that decodes images in sandboxed processes; webimage itself by default."
                    ),
                    ManualItem(
                        "WEBIMAGE_DECODER_PDF",
                        "The program that draws PDF; by default webimage-decoder-pdf beside webimage or in ../libexec."
                    ),
                    ManualItem(
                        "WEBIMAGE_DECODER_VIDEO",
                        "The program that decodes videos; by default webimage-decoder-video beside webimage or in ../libexec."
                    ),
                ]
            ),
            ManualSection(
                "FILES",
                [
                    ManualItem(
                        "~/.cache/webimage/",
                        "Cached images. 'webimage cache path' prints the directory of a cache, 'webimage cache clear' empties it."
                    ),
                    ManualItem(
                        "~/.cache/webimage-pyramids/",
                        "Intermediate files of 'webimage tiles', at most 1 GiB; they may be deleted."
                    ),
                ]
            ),
        ]
        program.examples = [
            ManualItem("webimage get https://example.com/photo.jpg", "Download an image into the current directory"),
            ManualItem(
                "webimage get https://example.com/photo.jpg -t 400x300 -o small.webp",
                "Scale it to fit into 400 by 300 pixels and convert it to WebP"
            ),
            ManualItem(
                "webimage get photos/*.jpg -t 300x300 --format png -o thumbnails/",
                "Write thumbnails of many images into a directory"
            ),
            ManualItem(
                "webimage get photo.jpg --resize 96x96:cover --round 48 -o avatar.png",
                "Cut a circle of 96 pixels out of an image"
            ),
            ManualItem(
                "webimage identify --json photo.jpg https://example.com/icon.png",
                "Print the properties of two images, for programs"
            ),
            ManualItem(
                "webimage tiles map.tif -o map",
                "Write Deep Zoom tiles of a large image for a viewer in a web page"
            ),
            ManualItem("webimage show https://example.com/cat.gif", "Play an animation in the terminal"),
            ManualItem("webimage prefetch urls.txt -j 12", "Load a list of URLs into the cache, twelve at a time"),
            ManualItem("webimage cache trim --max-size 500M", "Remove the oldest entries of the cache"),
        ]
        program.seeAlso = ["webimage-gallery(1)"]
        return program
    }
}
