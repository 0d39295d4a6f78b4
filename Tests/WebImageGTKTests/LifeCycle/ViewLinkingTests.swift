import TestSupport
import Testing

@Suite struct ViewLinkingTests {
    @Test(arguments: ["webimage-gallery", "gtk-program"])
    func `Programs with views link GTK, and not libadwaita`(name: String) throws {
        let run = try ProgramRun("/usr/bin/ldd", [ProgramRun.product(name)])
        #expect(run.status == 0 && run.output.contains("libgtk-4"))
        #expect(run.lines.filter { $0.contains("libadwaita") } == [])
    }
}
