/// An invalid command line; ends the program with status 64.
package struct UsageError: Error {
    package var message: String
    package init(_ message: String) { self.message = message }
}

/// The options and positional arguments of a command line.
package struct ParsedArguments {
    /// The options by long name, in the order given.
    package var options: [(name: String, value: String)] = []
    package var positional: [String] = []

    package func has(_ name: String) -> Bool { options.contains { $0.name == name } }
    /// The last value given for an option.
    package func value(_ name: String) -> String? { options.last { $0.name == name }?.value }
    package func values(_ name: String) -> [String] { options.filter { $0.name == name }.map(\.value) }

    package func integer(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                "\(name) takes a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'"
            )
        }
        return number
    }

    package func number(_ name: String, in range: ClosedRange<Double>) throws -> Double? {
        guard let text = value(name) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            func plain(_ bound: Double) -> String { Int(exactly: bound).map { "\($0)" } ?? "\(bound)" }
            let (low, high) = (plain(range.lowerBound), plain(range.upperBound))
            throw UsageError("\(name) takes a number from \(low) to \(high), not '\(text)'")
        }
        return number
    }
}

/// Parses arguments by the GNU conventions: `--name value`, `--name=value`, `-n value`, `-nvalue`; `--` ends the options.
package struct ArgumentParser {
    package var specs: [OptionSpec]

    package init(specs: [OptionSpec]) { self.specs = specs }

    package func parse(_ words: [String]) throws -> ParsedArguments {
        var result = ParsedArguments()
        var index = words.startIndex
        func next(for spec: OptionSpec) throws -> String {
            index += 1
            guard index < words.endIndex else { throw UsageError("\(spec.name) needs a value (\(spec.value ?? ""))") }
            return words[index]
        }
        while index < words.endIndex {
            let word = words[index]
            if word == "--" {
                result.positional += words[(index + 1)...]
                break
            } else if word.hasPrefix("--") {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                let spec = try find { $0.name == parts[0] } ?? unknown(parts[0])
                if spec.value == nil {
                    guard parts.count == 1 else { throw UsageError("\(spec.name) takes no value") }
                    result.options.append((spec.name, ""))
                } else {
                    result.options.append((spec.name, parts.count == 2 ? parts[1] : try next(for: spec)))
                }
            } else if word.hasPrefix("-"), word.count > 1 {
                let letter = String(word.prefix(2))
                let spec = try find { $0.short == letter } ?? unknown(word)
                let rest = String(word.dropFirst(2))
                if spec.value == nil {
                    guard rest.isEmpty else { throw UsageError("\(letter) takes no value") }
                    result.options.append((spec.name, ""))
                } else {
                    result.options.append((spec.name, rest.isEmpty ? try next(for: spec) : rest))
                }
            } else {
                result.positional.append(word)
            }
            index += 1
        }
        return result
    }

    private func find(_ matches: (OptionSpec) -> Bool) -> OptionSpec? { specs.first(where: matches) }

    private func unknown(_ word: String) throws -> OptionSpec {
        throw UsageError("unknown option \(word)")
    }
}
