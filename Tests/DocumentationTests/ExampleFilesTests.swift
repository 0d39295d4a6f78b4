import FoundationEssentials
import TestSupport
import Testing

/// The folder `Examples`: a package that users build, and programs that the project's own package builds to test them.
@Suite struct ExampleFilesTests {
    private static let names = ["CommandLine", "CustomCoder", "GTKGallery", "Server"]

    @Test func `Each example has a short README with the command that runs it, and is in the package`() throws {
        #expect(try Project.examples() == Self.names.map { "Examples/\($0)/README.md" })
        let manifest = try Document("Examples/Package.swift").text
        for name in Self.names {
            let readme = try Document("Examples/\(name)/README.md")
            #expect(readme.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 15, "\(name)")
            let command = try #require(readme.blocks.first?.code)
            #expect(command.hasPrefix("swift run --package-path Examples \(name)"), "\(name)")
            #expect(manifest.contains("example(\"\(name)\""), "\(name)")
        }
    }

    @Test func `Examples are as short as they claim`() throws {
        func lines(of name: String) throws -> [Substring] {
            let paths = try Project.files(below: "Examples/\(name)", named: ".swift")
            return try paths.flatMap { try Document($0).text.split(separator: "\n") }
        }
        #expect(try lines(of: "CommandLine").filter { $0 != "}" && !$0.hasPrefix("import ") }.count == 10)
        #expect(try lines(of: "GTKGallery").count <= 150)
    }

    @Test func `The examples' package finds its dependencies`() async throws {
        let directory = TemporaryDirectory()
        // Tests can be built with only a part of the package.
        let folders = ["--package-path", Project.path("Examples"), "--scratch-path", directory.path]
        let words = ["-u", "WEBIMAGE_TARGETS", "swift", "package"] + folders + ["show-dependencies"]
        let run = try await ProgramRun.run("/usr/bin/env", words)
        #expect(run.status == 0, "\(run.errors)")
    }
}
