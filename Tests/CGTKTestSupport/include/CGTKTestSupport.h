// Support for tests of widgets: the main actor on the main thread, under GLib's main loop, and windows of GTK 4.12.
#pragma once
#include <stdbool.h>

/// Returns whether this process was started to test widgets (WEBIMAGE_TEST_VIEWS is set), and so has GLib's main loop on its main thread.
bool cgtktest_has_main_loop(void);

/// Returns a `GtkWindow` that has the property `suspended`, with any version of GTK.
void *cgtktest_suspendable_window_new(void);

/// Sets the property, as GTK 4.12 does for a window that the compositor does not show.
void cgtktest_suspend_window(void *window, bool suspends);

/// Returns whether GTK provides accessibility data to tests (GTK_A11Y is `test`).
bool cgtktest_has_accessibles(void);

/// Returns whether a text is the accessible name of a widget.
bool cgtktest_is_named(void *widget, const char *name);

/// Returns whether a text is the accessible description of a widget.
bool cgtktest_is_described(void *widget, const char *text);

/// Returns the log levels of GLib's warnings and criticals.
int cgtktest_complaint_levels(void);
