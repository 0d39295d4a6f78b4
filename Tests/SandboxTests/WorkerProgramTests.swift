import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

@testable import WebImageIsolation

@Suite struct WorkerProgramTests {
    private let directory = TemporaryDirectory()

    private func program(_ name: String) throws -> String {
        let path = directory.path(name)
        try FileManager.default.createDirectory(
            atPath: String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]),
            withIntermediateDirectories: true
        )
        try Data("#!/bin/sh\n".utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o755)
        return path
    }

    private func find(
        _ wanted: String? = nil,
        _ kind: WorkerKind = .sealed,
        variable: String? = nil,
        neighbour: String? = nil,
        isOwnWorker: Bool = false
    ) throws(WebImageError) -> String {
        try WorkerProgram.find(
            wanted,
            kind,
            variable: variable,
            neighbour: neighbour,
            own: directory.path("bin/app"),
            isOwnWorker: isOwnWorker
        ).path
    }

    @Test func `The order of lookup is: the given path, the environment, this program, its neighbour, and libexec`()
        throws
    {
        let libexec = try program("libexec/webimage-decoder")
        try FileManager.default.createDirectory(atPath: directory.path("bin"), withIntermediateDirectories: true)
        #expect(try find().hasSuffix("bin/../libexec/webimage-decoder"))
        let beside = try program("bin/webimage-decoder")
        #expect(try find() == beside)
        #expect(try find(isOwnWorker: true) == "/proc/self/exe")
        #expect(try find(variable: libexec, isOwnWorker: true) == libexec)
        let own = try program("mine")
        #expect(try find(own, variable: libexec, isOwnWorker: true) == own)
        #expect(try find("", variable: "") == beside)
    }

    @Test func `The program for PDF is another one, also searched beside the program for the other formats`() throws {
        let own = try program("bin/app")
        _ = try program("bin/webimage-decoder")
        let error = #expect(throws: WebImageError.self) { try find(nil, .pdf, isOwnWorker: true) }
        #expect(error?.code == .decoderUnavailable && error?.message.contains("webimage-decoder-pdf") == true)
        #expect(error?.message.contains("install the package webimage-pdf") == true)
        let libexec = try program("libexec/webimage-decoder-pdf")
        #expect(try find(nil, .pdf).hasSuffix("bin/../libexec/webimage-decoder-pdf"))
        let beside = try program("bin/webimage-decoder-pdf")
        #expect(try find(nil, .pdf) == beside)
        let neighbour = try program("other/webimage-decoder-pdf")
        #expect(try find(nil, .pdf, neighbour: directory.path("other/webimage-decoder")) == neighbour)
        #expect(try find(nil, .pdf, variable: libexec, neighbour: neighbour) == libexec)
        #expect(try find(own, .pdf, variable: libexec) == own)
        #expect(WorkerKind(.pdf) == .pdf && WorkerKind.pdf.readable.contains("/usr/share/poppler"))
        #expect(!WorkerKind.fonts.readable.contains("/usr/share/poppler"))
    }

    @Test func `The program for videos is found like that for PDF, and reads no files`() throws {
        _ = try program("bin/webimage-decoder")
        let error = #expect(throws: WebImageError.self) { try find(nil, .video, isOwnWorker: true) }
        #expect(error?.code == .decoderUnavailable && error?.message.contains("webimage-decoder-video") == true)
        #expect(error?.message.contains("install the package webimage-video") == true)
        let libexec = try program("libexec/webimage-decoder-video")
        #expect(try find(nil, .video).hasSuffix("bin/../libexec/webimage-decoder-video"))
        #expect(try find(nil, .video, variable: libexec) == libexec)
        for format in ImageFormat.videos { #expect(WorkerKind(format) == .video) }
        #expect(WorkerKind.video.readable.isEmpty && WorkerKind.video.variable == "WEBIMAGE_DECODER_VIDEO")
    }

    @Test func `A missing program is an error, and no other is used`() throws {
        _ = try program("bin/webimage-decoder")
        for wanted in ["/nonexistent/decoder", directory.path] {
            let error = #expect(throws: WebImageError.self) {
                try find(wanted == directory.path ? "/etc/passwd" : wanted)
            }
            #expect(error?.code == .decoderUnavailable)
        }
        let error = #expect(throws: WebImageError.self) { try find(variable: "/nonexistent/decoder") }
        #expect(error?.code == .decoderUnavailable && error?.message.contains("/nonexistent/decoder") == true)
    }

    @Test func `Without any program the error lists the searched paths`() {
        let error = #expect(throws: WebImageError.self) { try find() }
        #expect(error?.code == .decoderUnavailable && error?.message.contains("libexec") == true)
    }

    @Test func `A program that is not a worker is an error`() async {
        let coder = IsolatedImageCoder(
            IsolationHarness.isolation { $0.workerPath = "/bin/true" },
            base: ImageCodersManager()
        )
        let error = await IsolationHarness.error("picture", coder)
        #expect(error?.code == .decoderUnavailable && error?.message.contains("/bin/true") == true)
    }

    @Test func `Secrets of the environment do not reach workers`() async {
        await #expect(processExitsWith: .success) {
            setenv("WEBIMAGE_TEST_SECRET", "x", 1)
            #expect(!WorkerProgram.environment.contains { $0.contains("SECRET") || $0.hasPrefix("LD_PRELOAD") })
            #expect(
                WorkerKind(.svg) == .fonts && WorkerKind(.jpeg) == .sealed && WorkerKind(.raw) == .raw
                    && WorkerKind.sealed.readable.isEmpty
            )
        }
    }
}
