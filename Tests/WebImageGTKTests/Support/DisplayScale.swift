import CWebImageGTK4
import Glibc
import Testing

@testable import WebImageGTK

/// The display's pixels per point, from a setting of the session.
@MainActor
enum DisplayScale {
    /// Shows windows at a scale while a closure runs, and at 1 afterwards.
    static func with(_ scale: Int32, _ body: @MainActor () async throws -> Void) async throws {
        try set(scale)
        do { try await body() } catch {
            try set(1)
            throw error
        }
        try set(1)
    }

    /// Sets the scale of windows, including the existing ones.
    static func set(_ scale: Int32) throws {
        typealias Change = @convention(c) (OpaquePointer, Int32) -> Void
        typealias Call = @convention(c) (OpaquePointer) -> Void
        let display = try #require(gdk_display_get_default())
        let change = try function("set_surface_scale", as: Change.self)
        // GDK also resizes windows that are gone, which the X server warns of.
        try function("error_trap_push", as: Call.self)(display)
        change(display, scale)
        try function("error_trap_pop_ignored", as: Call.self)(display)
    }

    /// A function of GTK's X11 backend, whose headers are not imported.
    private static func function<Function>(_ name: String, as type: Function.Type) throws -> Function {
        unsafeBitCast(try #require(dlsym(dlopen(nil, RTLD_NOW), "gdk_x11_display_" + name)), to: type)
    }
}
