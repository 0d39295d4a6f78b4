#include "CWebImageGTKShims.h"

#include <glib.h>
#include <stdint.h>
#include <sys/eventfd.h>

// Exported by libdispatch for CoreFoundation's run loop.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *unused);

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer data) {
    (void)callback;
    (void)data;
    gpointer tag = *(gpointer *)(source + 1);
    if (g_source_query_unix_fd(source, tag) & G_IO_IN) {
        eventfd_t count;
        // Cleared before the queue is served: work added in the meantime signals the descriptor again.
        eventfd_read(_dispatch_get_main_queue_handle_4CF(), &count);
    }
    _dispatch_main_queue_callback_4CF(NULL);
    return G_SOURCE_CONTINUE;
}

static GSourceFuncs functions = {.dispatch = dispatch};

void webimage_gtk_serve_main_queue(void) {
    static bool is_installed = false;
    if (is_installed) return;
    is_installed = true;
    int descriptor = _dispatch_get_main_queue_handle_4CF();
    GSource *source = g_source_new(&functions, sizeof(GSource) + sizeof(gpointer));
    *(gpointer *)(source + 1) = g_source_add_unix_fd(source, descriptor, G_IO_IN);
    g_source_set_static_name(source, "WebImage: main queue");
    g_source_attach(source, NULL);
    g_source_unref(source);
    // Work that was queued before anybody asked for the handle may not have signalled it, or another reader may have cleared it.
    eventfd_write(descriptor, 1);
}
