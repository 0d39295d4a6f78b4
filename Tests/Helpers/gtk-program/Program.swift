// A program with widgets as users write them, which no test is: its main function is not `async`, and nobody serves Dispatch's main queue
// before this library does. It ends with 0 when all went as it should, and is killed when something never comes.
//
//   gtk-program loop ENTRY           runs GLib's main loop after the library was entered by ENTRY
//   gtk-program woken ENTRY          the same, after somebody was woken for what is dispatched, and left it
//   gtk-program application ENTRY    runs an application
//   gtk-program run-loop ENTRY       runs GLib's main loop, which turns Foundation's, as some bindings do
//   gtk-program quit-stuck           quits while a store hangs for ever, and prints what happened
//   gtk-program terminated DIRECTORY is ended by SIGTERM while it loads and stores into a directory, and prints what happened
//
// ENTRY is `picture`, `button`, `list`, `window`, `application` or `install`.
import CWebImageGTK4
import Glibc

@main
struct Program {
    static func main() {
        // Far more than it takes, instead of forever.
        alarm(30)
        guard gtk_init_check() != 0 else { exit(69) }
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.dropFirst().first) {
        case ("quit-stuck", nil): Endings.quitWhileStuck()
        case ("terminated", let directory?): Endings.terminate(directory)
        case (let loop?, let name?):
            guard let entry = Entry(rawValue: name), let loop = Loop(rawValue: loop) else { exit(64) }
            let chain = Chain()
            chain.begin()
            if loop == .woken { Chain.takeWakeUp() }
            entry.call()
            loop.run(until: chain)
        default: exit(64)
        }
    }
}
