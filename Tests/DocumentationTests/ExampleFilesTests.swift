import FoundationEssentials
import TestSupport
import Testing

/// The folder `Examples`: a package that users build, and programs that the project's own package builds to test them.
@Suite struct ExampleFilesTests {
    private static let names = ["CommandLine", "CustomCoder", "GTKGallery", "Server"]

    @Test func `Each example has a short README with the command that runs it`() throws {
        #expect(try Project.examples() == Self.names.map { "Examples/\($0)/README.md" })
        for name in Self.names {
            let readme = try Document("Examples/\(name)/README.md")
            #expect(readme.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 15, "\(name)")
            let command = readme.blocks.first.map { $0.code.hasPrefix("swift run --package-path Examples \(name)") }
            #expect(command == true, "\(name)")
        }
    }

    @Test func `Examples are as short as they are said to be`() throws {
        for (name, most) in [("CommandLine", 10), ("GTKGallery", 150)] {
            let paths = try Project.files(below: "Examples/\(name)", named: ".swift")
            let count = try paths.reduce(0) {
                try $0 + Document($1).text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
            }
            #expect(count <= most, "\(name)")
        }
    }

    @Test func `The examples' package has all of them, and finds what they depend on`() async throws {
        let directory = TemporaryDirectory()
        // Where there are GTK's headers or not: the package of the library must say the same.
        for (gtk, names) in [("1", Self.names), ("0", Self.names.filter { $0 != "GTKGallery" })] {
            let words = [
                "swift", "package", "--package-path", Project.path("Examples"), "--scratch-path", directory.path,
                "describe",
            ]
            let run = try await ProgramRun.run("/usr/bin/env", words, environment: ["WEBIMAGE_GTK": gtk])
            #expect(run.status == 0, "\(run.errors)")
        }
    }
}
