import FoundationEssentials
import TestSupport

/// Parses files of cases. Unknown input is an error, so that a typing mistake cannot make a case pass.
struct HTTPCacheCaseParser {
    struct Failure: Error, CustomStringConvertible {
        var line: String
        var complaint: String
        var description: String { "\(complaint): \(line)" }
    }

    private var file = HTTPCacheCaseFile()
    private var definitions: [String: [String]] = [:]

    static func parse(_ text: String) throws -> HTTPCacheCaseFile {
        var parser = HTTPCacheCaseParser()
        let lines = text.split(separator: "\n").map { String($0.drop { $0 == " " }) }
        try parser.read(lines.filter { !$0.isEmpty && !$0.hasPrefix("#") })
        return parser.file
    }

    /// All files, in the order of the table.
    static func all() throws -> [HTTPCacheCaseFile] {
        let names = [
            "freshness", "parsing", "directives", "status", "vary", "validation", "fields", "stale", "other",
            "left-out",
        ]
        return try names.map { name in
            var directory = URL(fileURLWithPath: #filePath)
            directory.deleteLastPathComponent()
            let path = directory.path + "/Cases/\(name).txt"
            return try parse(String(decoding: Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self))
        }
    }

    private mutating func read(_ lines: [String]) throws {
        var rest = lines[...]
        while let line = rest.popFirst() {
            let (word, argument) = Self.split(line)
            switch word {
            case "define": definitions[argument] = try Self.block(&rest, to: "end", after: line)
            case "like":
                guard let lines = definitions[argument] else { throw Failure(line: line, complaint: "no such lines") }
                try read(lines)
            case "each":
                let columns = Self.cells(argument)
                let rows = try Self.block(&rest, to: "do", after: line)
                let body = try Self.block(&rest, to: "end", after: line)
                for row in rows { try read(Self.fill(body, columns, row)) }
            case "left":
                file.left.append((argument, try Self.block(&rest, to: "end", after: line)))
            case "group": file.group = argument
            case "case": try beginCase(argument)
            default: try readLine(word, argument, line)
            }
        }
    }

    private mutating func beginCase(_ argument: String) throws {
        let parts = argument.split(separator: " ").map(String.init)
        guard parts.count == 2, let kind = HTTPCacheCase.Kind(rawValue: parts[1]) else {
            throw Failure(line: argument, complaint: "a case has an id and a kind")
        }
        file.cases.append(HTTPCacheCase(id: parts[0], kind: kind, group: file.group))
    }

    private mutating func readLine(_ word: String, _ argument: String, _ line: String) throws {
        guard var current = file.cases.popLast() else { throw Failure(line: line, complaint: "no case has begun") }
        defer { file.cases.append(current) }
        switch word {
        case "run": current.adaptation = argument
        case "because": current.reason = argument
        case "load": current.steps.append(try Self.step(argument, line))
        default:
            guard var step = current.steps.popLast() else { throw Failure(line: line, complaint: "no load has begun") }
            defer { current.steps.append(step) }
            try Self.read(word, argument, line, into: &step)
        }
    }

    private static func step(_ argument: String, _ line: String) throws -> HTTPCacheCase.Step {
        var step = HTTPCacheCase.Step()
        for word in argument.split(separator: " ").map(String.init) {
            if word.hasPrefix("query=") {
                step.query = String(word.dropFirst(6))
            } else if let expectation = HTTPCacheCase.Expectation(rawValue: word) {
                step.expectation = expectation
            } else {
                throw Failure(line: line, complaint: "no such expectation")
            }
        }
        return step
    }

    private static func read(
        _ word: String,
        _ argument: String,
        _ line: String,
        into step: inout HTTPCacheCase.Step
    ) throws {
        switch word {
        case "ask": step.request.append(try field(argument))
        case "give": step.answer.fields.append(try field(argument))
        case "early": step.answer.interimFields.append(try field(argument))
        case "unsent": step.unsent.append(argument)
        case "sent": step.sent.append(try field(argument))
        case "expect": step.delivered.append(try expectation(argument))
        case "answer": try readAnswer(argument, line, into: &step.answer)
        case "ends": step.endsWithImage = try ending(argument, line)
        case "wait": step.wait = argument.isEmpty ? 3 : try number(argument)
        default: throw Failure(line: line, complaint: "no such word")
        }
    }

    private static func readAnswer(_ argument: String, _ line: String, into answer: inout HTTPCacheCase.Answer) throws {
        let (word, rest) = split(argument)
        switch word {
        case "nothing": answer.closes = true
        case "after": answer.delay = try number(rest)
        case "first": answer.interimStatus = Int(try number(rest))
        default: answer.status = Int(try number(argument))
        }
    }

    private static func ending(_ argument: String, _ line: String) throws -> Bool {
        guard argument == "picture" || argument == "error" else { throw Failure(line: line, complaint: "no such end") }
        return argument == "picture"
    }

    private static func expectation(_ argument: String) throws -> HTTPCacheCase.FieldExpectation {
        let (word, rest) = split(argument)
        if word == "no" { return .missing(rest) }
        if rest.hasPrefix("> ") { return .greater(name: word, than: Int(try number(String(rest.dropFirst(2))))) }
        return rest.isEmpty && !word.hasSuffix(":") ? .present(word) : .value(try field(argument))
    }

    private static func field(_ argument: String) throws -> HTTPCacheCase.Field {
        guard let colon = argument.firstIndex(of: ":") else { throw Failure(line: argument, complaint: "no field") }
        let value = argument[argument.index(after: colon)...].drop { $0 == " " }
        return HTTPCacheCase.Field(name: String(argument[..<colon]), value: String(value))
    }

    private static func number(_ text: String) throws -> Double {
        guard let number = Double(text) else { throw Failure(line: text, complaint: "no number") }
        return number
    }

    // MARK: Lines

    private static func split(_ line: String) -> (word: String, rest: String) {
        let word = line.prefix { $0 != " " }
        return (String(word), String(line.dropFirst(word.count).drop { $0 == " " }))
    }

    private static func cells(_ row: String) -> [String] {
        row.split(separator: "|", omittingEmptySubsequences: false).map { cell in
            String(String(cell.drop { $0 == " " }.reversed()).drop { $0 == " " }.reversed())
        }
    }

    private static func fill(_ body: [String], _ columns: [String], _ row: String) throws -> [String] {
        let values = cells(row)
        guard values.count == columns.count else { throw Failure(line: row, complaint: "too many cells, or too few") }
        return body.map { line in
            zip(columns, values).reduce(line) { $0.replacing("{\($1.0)}", with: $1.1) }
        }
    }

    private static func block(_ lines: inout ArraySlice<String>, to last: String, after first: String) throws
        -> [String]
    {
        var block: [String] = []
        while let line = lines.popFirst() {
            if line == last { return block }
            block.append(line)
        }
        throw Failure(line: first, complaint: "no \(last) follows")
    }
}
