#include "CGTKTestSupport.h"

#include <gtk/gtk.h>

typedef struct {
    GtkWindow parent;
    gboolean is_suspended;
} SuspendableWindow;

typedef GtkWindowClass SuspendableWindowClass;

G_DEFINE_TYPE(SuspendableWindow, cgtktest_suspendable_window, GTK_TYPE_WINDOW)

enum { PROPERTY_SUSPENDED = 1 };

static void get_property(GObject *object, guint number, GValue *value, GParamSpec *property) {
    (void)number;
    (void)property;
    g_value_set_boolean(value, ((SuspendableWindow *)object)->is_suspended);
}

static void cgtktest_suspendable_window_class_init(SuspendableWindowClass *class) {
    G_OBJECT_CLASS(class)->get_property = get_property;
    g_object_class_install_property(
        G_OBJECT_CLASS(class), PROPERTY_SUSPENDED,
        g_param_spec_boolean("suspended", NULL, NULL, FALSE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void cgtktest_suspendable_window_init(SuspendableWindow *window) { (void)window; }

void *cgtktest_suspendable_window_new(void) { return g_object_new(cgtktest_suspendable_window_get_type(), NULL); }

void cgtktest_suspend_window(void *window, bool suspends) {
    ((SuspendableWindow *)window)->is_suspended = suspends;
    g_object_notify(window, "suspended");
}
