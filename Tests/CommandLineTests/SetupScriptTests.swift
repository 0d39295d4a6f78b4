import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The messages of `Scripts/setup` when something is missing. It runs with only stubs and a few system programs on its
/// path, so that it finds what the test says and cannot install anything.
@Suite struct SetupScriptTests {
    private let bin = ProgramDirectory()

    private func setup(_ arguments: String...) async throws -> ProgramRun {
        try await ProgramRun.run(
            "/bin/bash",
            [ProgramDirectory.scripts + "/setup"] + arguments,
            environment: ["PATH": bin.path],
            directory: bin.path
        )
    }

    /// A machine with everything: the required Swift, and Debian, on which the named packages are installed.
    private func completeMachine(installed: String = "*") async throws {
        try await bin.add("swift", "echo 'Swift version 6.3.1 (swift-6.3.1-RELEASE)'")
        try await bin.add("apt-get", "echo \"apt-get $*\" >>\"$0.log\"")
        try await bin.add("dpkg-query", "case \"${!#}\" in \(installed)) printf installed ;; *) exit 1 ;; esac")
        try await bin.add("id", "echo 1000")
    }

    @Test func `With everything installed it prints nothing and does nothing`() async throws {
        try await completeMachine()
        let run = try await setup()
        #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty)
        #expect(bin.log(of: "apt-get").isEmpty)
    }

    @Test func `Without Swift it prints the required version and where to get it`() async throws {
        try await completeMachine()
        bin.remove("swift")
        let run = try await setup()
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(
            run.errors == "setup: no swift on the PATH: Swift 6.2 or newer is needed, from "
                + "https://www.swift.org/install/linux/\n"
        )
    }

    @Test(
        "A Swift that is too old is named",
        arguments: [
            ("Swift version 6.1.3 (swift-6.1.3-RELEASE)", "6.1.3"), ("Swift version 5.10 (swift-5.10-RELEASE)", "5.10"),
            ("Apple Swift version 6.0 (swiftlang-6.0.0.9.10)", "6.0"), ("Swift version 6 (swift-6-RELEASE)", "6"),
        ]
    )
    func oldSwift(says: String, version: String) async throws {
        try await completeMachine()
        try await bin.add("swift", "echo '\(says)'; echo 'Target: x86_64-unknown-linux-gnu'")
        let run = try await setup()
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(run.errors == "setup: Swift \(version) is too old: Swift 6.2 or newer is needed\n")
        #expect(bin.log(of: "apt-get").isEmpty)
    }

    @Test(
        "A Swift that is new enough is taken",
        arguments: ["6.2", "6.2.1-dev", "6.3.1", "6.10", "6.10.2", "7.0", "10.1.2"]
    )
    func newSwift(version: String) async throws {
        try await completeMachine()
        try await bin.add("swift", "echo 'Swift version \(version) (swift-\(version)-RELEASE)'")
        let run = try await setup()
        #expect(run.status == 0 && run.errors.isEmpty)
    }

    @Test(
        "A program called swift that does not print its version does not count",
        arguments: ["exit 1", "echo OpenStack Swift", "echo 'Swift version unknown'"]
    )
    func otherSwift(script: String) async throws {
        try await completeMachine()
        try await bin.add("swift", script)
        let run = try await setup()
        #expect(run.status == 1)
        #expect(run.errors.contains("does not say which version it is: Swift 6.2 or newer is needed"))
    }

    @Test(arguments: ["apt-get", "dpkg-query"])
    func `On an unknown system it prints where the list of packages is`(program: String) async throws {
        try await completeMachine()
        bin.remove(program)
        let run = try await setup()
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(run.errors.hasPrefix("setup: neither apt-get nor dnf here:"))
        #expect(run.errors.contains("Scripts/packages.txt"))
    }

    @Test func `Missing packages are listed on request, each once, and nothing is installed`() async throws {
        try await completeMachine(
            installed: "lib*|poppler*|g++|python3*|mount|e2fsprogs|ca-certificates|redis*|x*|fonts-*|adwaita-*"
        )
        let run = try await setup("--list")
        #expect(run.status == 0 && run.errors.isEmpty)
        #expect(run.lines == ["nginx", "openssl"])
        #expect(try await setup("--list", "build").output.isEmpty, "another group needs nothing")
        #expect(bin.log(of: "apt-get").isEmpty)
    }

    @Test func `Without root and sudo it prints the command that root must run`() async throws {
        try await completeMachine(installed: "lib*|poppler*|g++")
        let run = try await setup("build", "docs")
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(
            run.errors == "setup: installing packages needs root, and there is no sudo; as root, run: "
                + "apt-get install --no-install-recommends python3\n"
        )
        #expect(bin.log(of: "apt-get").isEmpty)
    }

    @Test func `With sudo it installs exactly the missing packages`() async throws {
        try await completeMachine(installed: "lib*|poppler*|g++")
        // Stands in for root: nothing is written to the system.
        try await bin.add("sudo", "shift; case \"$1\" in env) exec \"$@\" ;; *) cat >/dev/null ;; esac")
        let run = try await setup("build", "docs")
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(run.lines == ["Installing 1 packages: python3", "Installed."])
        #expect(
            bin.log(of: "apt-get") == ["apt-get update -q", "apt-get install --no-install-recommends -q -y python3"]
        )
    }

    @Test func `A package that not every release has is installed where it exists`() async throws {
        try await completeMachine(
            installed:
                "libt*|libc*|libi*|libm*|libp*|libg*|libw*|libl*|libxx*|libr*|libjpeg*|libav[cfu]o*|libavutil*|libs*|poppler*|g++"
        )
        try await bin.add("apt-cache", "case \"${!#}\" in libavif-dev) ;; *) exit 100 ;; esac")
        #expect(try await setup("--list", "build").lines == ["libavif-dev"])
        try await bin.add("apt-cache", "exit 100")
        #expect(try await setup("build").output.isEmpty)
    }

    @Test func `On Fedora the packages have Fedora's names`() async throws {
        try await completeMachine()
        bin.remove("apt-get")
        bin.remove("dpkg-query")
        try await bin.add("rpm", "case \"${!#}\" in lib*|poppler*|*-devel) ;; *) exit 1 ;; esac")
        try await bin.add("dnf", "echo \"dnf $*\" >>\"$0.log\"")
        try await bin.add("sudo", "shift; case \"$1\" in env) exec \"$@\" ;; *) cat >/dev/null ;; esac")
        let run = try await setup("build")
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(run.lines == ["Installing 1 packages: gcc-c++", "Installed."])
        #expect(bin.log(of: "dnf") == ["dnf install --setopt=install_weak_deps=False -q -y gcc-c++"])
    }

    @Test func `When apt-get fails, its output and the command are shown`() async throws {
        try await completeMachine(installed: "lib*")
        try await bin.add("sudo", "shift; case \"$1\" in env) exec \"$@\" ;; *) cat >/dev/null ;; esac")
        try await bin.add("apt-get", "echo 'E: no network' >&2; exit 100")
        let run = try await setup("docs")
        #expect(run.status == 1)
        #expect(run.errors.contains("E: no network") && run.errors.contains("'apt-get update -q' failed"))
        #expect(!run.output.contains("Installed."))
    }

    @Test func `An unknown argument is an error, with a hint at the help`() async throws {
        try await completeMachine()
        let run = try await setup("--bogus")
        #expect(run.status == 1 && run.errors.contains("unknown argument '--bogus'"))
        let help = try await setup("--help")
        #expect(help.status == 0 && help.output.contains("setup [--list | --packages] [build]") && help.errors.isEmpty)
    }
}

/// A directory of programs that is a script's whole path: stubs, and the tools that the script uses.
private struct ProgramDirectory {
    static let scripts = Fixtures.path("../../Scripts")
    private static let tools = [
        "bash", "basename", "cat", "dirname", "env", "grep", "head", "mktemp", "printf", "rm", "sed", "sort",
    ]

    private let directory = TemporaryDirectory()
    var path: String { directory.path }

    init() {
        for tool in Self.tools { symlink("/usr/bin/\(tool)", directory.path(tool)) }
    }

    /// A program that runs a script of bash.
    func add(_ name: String, _ script: String) async throws {
        remove(name)
        try await ProgramRun.writeScript(script, to: directory.path(name))
    }

    func remove(_ name: String) { unlink(directory.path(name)) }

    /// The lines that a program wrote about its calls.
    func log(of name: String) -> [String] {
        let data = FileManager.default.contents(atPath: directory.path(name + ".log")) ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
