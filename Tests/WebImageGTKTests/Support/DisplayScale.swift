import CWebImageGTK4
import Glibc
import Testing

@testable import WebImageGTK

/// How many pixels the display has to a point, as a setting of the session says it.
@MainActor
enum DisplayScale {
    /// Has windows be shown at a scale as long as something runs; at 1 afterwards.
    static func with(_ scale: Int32, _ body: @MainActor () async throws -> Void) async throws {
        try set(scale)
        do { try await body() } catch {
            try set(1)
            throw error
        }
        try set(1)
    }

    /// Has windows be shown at a scale, also those that are there.
    static func set(_ scale: Int32) throws {
        typealias Change = @convention(c) (OpaquePointer, Int32) -> Void
        typealias Call = @convention(c) (OpaquePointer) -> Void
        let display = try #require(gdk_display_get_default())
        let change = try function("set_surface_scale", as: Change.self)
        // GDK resizes windows, too, that have gone, which the X server complains of.
        try function("error_trap_push", as: Call.self)(display)
        change(display, scale)
        try function("error_trap_pop_ignored", as: Call.self)(display)
    }

    /// A function of the part of GTK for X11, whose headers are not imported.
    private static func function<Function>(_ name: String, as type: Function.Type) throws -> Function {
        unsafeBitCast(try #require(dlsym(dlopen(nil, RTLD_NOW), "gdk_x11_display_" + name)), to: type)
    }
}
