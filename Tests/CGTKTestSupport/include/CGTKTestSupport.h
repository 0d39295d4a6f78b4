// Puts the main actor of a test process onto its main thread, under GLib's main loop.
#pragma once
#include <stdbool.h>

/// Whether this process was started to test widgets (WEBIMAGE_TEST_VIEWS is set), and so has GLib's main loop on its main thread.
bool cgtktest_has_main_loop(void);
