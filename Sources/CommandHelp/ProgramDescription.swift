/// The version of the programs. `debian/changelog` and the gallery's metadata name it, too.
package enum Release {
    package static let version = "0.1.0"
    /// The day of that version.
    package static let date = "2026-11-26"
}

/// The contents of a program's manual pages and shell completions. `--help` prints the same options.
package struct ProgramDescription: Sendable {
    package var name: String
    /// The text after the name in the first line of the manual page.
    package var title: String
    /// The text after the name on the command line.
    package var usage: String
    /// Paragraphs.
    package var description: [String]
    package var options: [OptionSpec]
    package var commands: [CommandDescription] = []
    /// The values of options whose placeholder does not list them, by the option's name.
    package var words: [String: [String]] = [:]
    package var sections: [ManualSection] = []
    package var examples: [ManualItem] = []
    /// Pages of other programs, such as "curl(1)".
    package var seeAlso: [String] = []

    package init(
        name: String,
        title: String,
        usage: String,
        description: [String],
        options: [OptionSpec]
    ) {
        self.name = name
        self.title = title
        self.usage = usage
        self.description = description
        self.options = options + [.help]
    }

    /// Returns the words of a placeholder or usage such as `high|fast`; empty if it does not consist of literal words.
    static func choices(_ text: String) -> [String] {
        let words = text.split(separator: "|", omittingEmptySubsequences: false)
        guard words.count > 1, words.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isASCII && $0.isLowercase } })
        else { return [] }
        return words.map(String.init)
    }

    /// Returns the output of `--generate`; nil for unknown words. `bash`, `zsh` or `fish` generate the completion of a shell, `man` the manual
    /// page, `man COMMAND` the page of a command, and `commands` the names of the commands.
    package func generate(_ words: [String]) -> String? {
        switch words.first {
        case "bash" where words.count == 1: bashCompletion
        case "zsh" where words.count == 1: zshCompletion
        case "fish" where words.count == 1: fishCompletion
        case "man" where words.count == 1: manual
        case "man" where words.count == 2: commands.first { $0.name == words[1] }.map(manual)
        case "commands" where words.count == 1: commands.map { $0.name + "\n" }.joined()
        default: nil
        }
    }
}

/// A command of a program.
package struct CommandDescription: Sendable {
    package var name: String
    package var usage: String
    package var summary: String
    package var options: [OptionSpec]

    package init(name: String, usage: String, summary: String, options: [OptionSpec]) {
        self.name = name
        self.usage = usage
        self.summary = summary
        self.options = options + [.help]
    }

    /// The possible first arguments, if the usage starts with literal words; empty if the arguments are files.
    var actions: [String] { ProgramDescription.choices(String(usage.prefix { $0 != " " })) }

    /// The summary on one line.
    var line: String { summary.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

    /// The summary up to its first colon or full stop, for lists that have little room.
    var shortLine: String { String(line.prefix { !":.(".contains($0) }).trimmed }
}

/// A section of manual pages.
package struct ManualSection: Sendable {
    package var title: String
    package var items: [ManualItem]

    package init(_ title: String, _ items: [ManualItem]) {
        self.title = title
        self.items = items
    }
}

/// A word and what it means.
package struct ManualItem: Sendable {
    package var word: String
    package var text: String

    package init(_ word: String, _ text: String) {
        self.word = word
        self.text = text
    }
}

extension String {
    /// Returns the words on lines of at most `width` characters.
    package func wrapped(to width: Int) -> String {
        var lines = [""]
        for word in split(whereSeparator: \.isWhitespace) {
            let line = lines[lines.count - 1]
            if line.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if line.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n")
    }

    var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
