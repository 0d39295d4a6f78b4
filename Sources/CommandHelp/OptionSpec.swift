/// An option that a program takes.
package struct OptionSpec: Sendable {
    /// The long name with dashes.
    package var name: String
    /// The short name with its dash.
    package var short: String?
    /// The placeholder of the value in the help; nil for an option without one.
    package var value: String?
    package var help: String

    package init(_ name: String, short: String? = nil, value: String? = nil, _ help: String) {
        self.name = name
        self.short = short
        self.value = value
        self.help = help
    }

    /// The option that every program and command has.
    package static let help = OptionSpec("--help", short: "-h", "print this help")

    /// The options of programs that share images in a store, besides its address.
    package static let remoteStore = [
        OptionSpec(
            "--remote-ca",
            value: "FILE",
            "certificates of the authorities that rediss: trusts; the system's by default"
        ),
        OptionSpec(
            "--remote-certificate",
            value: "FILE",
            "certificate of this client for rediss:, with its private key; none by default"
        ),
        OptionSpec(
            "--remote-secret-file",
            value: "FILE",
            "file of a secret that verifies shared images; or $WEBIMAGE_REMOTE_SECRET"
        ),
    ]

    /// The names of the option, the short one first.
    package var names: [String] { (short.map { [$0] } ?? []) + [name] }

    /// Returns options as lines of a help text, with descriptions that start at the same column.
    package static func listing(_ options: [OptionSpec], width: Int = 30) -> String {
        options.map { option in
            let names = (option.short.map { "\($0), " } ?? "    ") + option.name + (option.value.map { " \($0)" } ?? "")
            let space = String(repeating: " ", count: max(width - names.count, 0))
            return names.count > width
                ? "  \(names)\n\(String(repeating: " ", count: width + 3))\(option.help)\n"
                : "  \(names)\(space) \(option.help)\n"
        }.joined()
    }

    /// The kind of an option's value that a shell can complete.
    enum Value: Equatable {
        case none
        case text
        case files
        case directories
        case words([String])
    }

    /// Returns the kind of value by its placeholder: `FILE`, `DIR`, or words such as `high|fast`; `words` has the values of other options.
    func value(words: [String: [String]]) -> Value {
        guard let value else { return .none }
        // Options of several commands can have one name; those that list their words have these.
        let choices = ProgramDescription.choices(value)
        if !choices.isEmpty { return .words(choices) }
        if let words = words[name] { return .words(words) }
        if value.contains("FILE") { return .files }
        return value == "DIR" ? .directories : .text
    }
}
