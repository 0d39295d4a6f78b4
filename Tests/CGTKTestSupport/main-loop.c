#include "CGTKTestSupport.h"

#include <CWebImageGTKShims.h>
#include <glib.h>
#include <stdlib.h>

// The runtime calls this when an `async` main waits for the first time. By default the main queue goes to other threads; here
// the main thread runs GLib's loop, which serves that queue. Not documented; the runtime exports it for overriding.
extern void (*swift_task_asyncMainDrainQueue_hook)(void *original, void *override) __attribute__((swiftcall));

static __attribute__((swiftcall, noreturn)) void run_main_loop(void *original, void *override) {
    (void)original;
    (void)override;
    webimage_gtk_serve_main_queue();
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
    abort();
}

bool cgtktest_has_main_loop(void) { return getenv("WEBIMAGE_TEST_VIEWS") != NULL; }

__attribute__((constructor)) static void install(void) {
    if (cgtktest_has_main_loop()) swift_task_asyncMainDrainQueue_hook = run_main_loop;
}

int cgtktest_complaint_levels(void) { return G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING; }
