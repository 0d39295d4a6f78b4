// GTK. Differences between versions of GTK and GLib are handled here, so that the Swift code is the same for all.
#pragma once
#include <gtk/gtk.h>
#include <glib-unix.h>

// GLib 2.90 marks flag enumerations as such. Swift imports those as option sets, whose members have other names.
static const GConnectFlags webimage_gtk_connect_swapped = G_CONNECT_SWAPPED;
static const GApplicationFlags webimage_gtk_application_non_unique = G_APPLICATION_NON_UNIQUE;

/// Gets the colour of a widget's text.
static inline void webimage_gtk_get_text_color(GtkWidget *widget, GdkRGBA *color) {
#if GTK_CHECK_VERSION(4, 10, 0)
    gtk_widget_get_color(widget, color);
#else
    gtk_style_context_get_color(gtk_widget_get_style_context(widget), color);
#endif
}

/// Returns the device pixels per point of a widget's display, which may be a fraction.
static inline double webimage_gtk_get_device_scale(GtkWidget *widget) {
#if GTK_CHECK_VERSION(4, 12, 0)
    GtkNative *native = gtk_widget_get_native(widget);
    GdkSurface *surface = native ? gtk_native_get_surface(native) : NULL;
    if (surface) return gdk_surface_get_scale(surface);
#endif
    return gtk_widget_get_scale_factor(widget);
}

/// Loads CSS into a style provider.
static inline void webimage_gtk_load_css(GtkCssProvider *provider, const char *css) {
#if GTK_CHECK_VERSION(4, 12, 0)
    gtk_css_provider_load_from_string(provider, css);
#else
    gtk_css_provider_load_from_data(provider, css, -1);
#endif
}

/// Called with a list of GFile, or NULL if the user cancelled. The caller releases the list.
typedef void (*webimage_gtk_files_chosen)(GListModel *files, void *data);

struct webimage_gtk_choice {
    webimage_gtk_files_chosen chosen;
    void *data;
};

static inline struct webimage_gtk_choice *webimage_gtk_choice_new(webimage_gtk_files_chosen chosen, void *data) {
    struct webimage_gtk_choice *choice = g_new(struct webimage_gtk_choice, 1);
    choice->chosen = chosen;
    choice->data = data;
    return choice;
}

static inline void webimage_gtk_choice_end(struct webimage_gtk_choice *choice, GListModel *files) {
    choice->chosen(files, choice->data);
    if (files) g_object_unref(files);
    g_free(choice);
}

// webimage_gtk_choose_files asks for existing files, or for one folder, in a dialog over `parent`. `chosen` is called once, on the main
// thread.
#if GTK_CHECK_VERSION(4, 10, 0)
static inline void webimage_gtk_folder_chosen(GObject *dialog, GAsyncResult *result, gpointer data) {
    GFile *folder = gtk_file_dialog_select_folder_finish(GTK_FILE_DIALOG(dialog), result, NULL);
    GListStore *files = folder ? g_list_store_new(G_TYPE_FILE) : NULL;
    if (folder) {
        g_list_store_append(files, folder);
        g_object_unref(folder);
    }
    webimage_gtk_choice_end((struct webimage_gtk_choice *)data, (GListModel *)files);
}

static inline void webimage_gtk_files_opened(GObject *dialog, GAsyncResult *result, gpointer data) {
    GListModel *files = gtk_file_dialog_open_multiple_finish(GTK_FILE_DIALOG(dialog), result, NULL);
    webimage_gtk_choice_end((struct webimage_gtk_choice *)data, files);
}

static inline void webimage_gtk_choose_files(
    GtkWindow *parent, const char *title, gboolean wants_folder, webimage_gtk_files_chosen chosen, void *data) {
    struct webimage_gtk_choice *choice = webimage_gtk_choice_new(chosen, data);
    GtkFileDialog *dialog = gtk_file_dialog_new();
    gtk_file_dialog_set_title(dialog, title);
    if (wants_folder) {
        gtk_file_dialog_select_folder(dialog, parent, NULL, webimage_gtk_folder_chosen, choice);
    } else {
        gtk_file_dialog_open_multiple(dialog, parent, NULL, webimage_gtk_files_opened, choice);
    }
    g_object_unref(dialog);
}
#else
static inline void webimage_gtk_chooser_responded(GtkNativeDialog *chooser, int response, gpointer data) {
    GListModel *files =
        response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_files(GTK_FILE_CHOOSER(chooser)) : NULL;
    webimage_gtk_choice_end((struct webimage_gtk_choice *)data, files);
    g_object_unref(chooser);
}

static inline void webimage_gtk_choose_files(
    GtkWindow *parent, const char *title, gboolean wants_folder, webimage_gtk_files_chosen chosen, void *data) {
    struct webimage_gtk_choice *choice = webimage_gtk_choice_new(chosen, data);
    GtkFileChooserAction action =
        wants_folder ? GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER : GTK_FILE_CHOOSER_ACTION_OPEN;
    GtkFileChooserNative *chooser = gtk_file_chooser_native_new(title, parent, action, NULL, NULL);
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(chooser), TRUE);
    gtk_file_chooser_set_select_multiple(GTK_FILE_CHOOSER(chooser), !wants_folder);
    g_signal_connect(chooser, "response", G_CALLBACK(webimage_gtk_chooser_responded), choice);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(chooser));
}
#endif
