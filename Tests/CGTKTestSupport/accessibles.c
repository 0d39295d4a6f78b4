#include "CGTKTestSupport.h"

#include <gtk/gtk.h>

bool cgtktest_has_accessibles(void) { return g_strcmp0(g_getenv("GTK_A11Y"), "test") == 0; }

// GTK's function is variadic, which Swift cannot call.
static bool has_text(void *widget, GtkAccessibleProperty property, const char *text) {
    char *other = gtk_test_accessible_check_property(GTK_ACCESSIBLE(widget), property, text, NULL);
    g_free(other);
    return other == NULL;
}

bool cgtktest_is_named(void *widget, const char *name) { return has_text(widget, GTK_ACCESSIBLE_PROPERTY_LABEL, name); }

bool cgtktest_is_described(void *widget, const char *text) {
    return has_text(widget, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text);
}
