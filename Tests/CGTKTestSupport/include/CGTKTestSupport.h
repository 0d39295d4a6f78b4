// What tests of widgets need: the main actor of their process on its main thread, under GLib's main loop, and windows of GTK 4.12.
#pragma once
#include <stdbool.h>

/// Whether this process was started to test widgets (WEBIMAGE_TEST_VIEWS is set), and so has GLib's main loop on its main thread.
bool cgtktest_has_main_loop(void);

/// A `GtkWindow` that has the property `suspended`, whatever GTK there is.
void *cgtktest_suspendable_window_new(void);

/// Says of such a window what GTK 4.12 says of one that the compositor does not show.
void cgtktest_suspend_window(void *window, bool suspends);

/// Whether this process has GTK tell tests what it would tell those who do not see (GTK_A11Y is `test`).
bool cgtktest_has_accessibles(void);

/// Whether a text is the name of a widget for those who do not see it.
bool cgtktest_is_named(void *widget, const char *name);

/// Whether a text is what a widget is described by for those who do not see it.
bool cgtktest_is_described(void *widget, const char *text);

/// The levels of GLib's log at which it complains: warnings and criticals.
int cgtktest_complaint_levels(void);
