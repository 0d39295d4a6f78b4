#include "CWebImageGTKShims.h"

#include <gdk/gdk.h>

typedef struct {
    GObject parent;
    void *owner;
    const webimage_gtk_paintable_calls *calls;
    int width;
    int height;
    double ratio;
} WebImagePaintable;

typedef struct {
    GObjectClass parent;
} WebImagePaintableClass;

static void paintable_interface(GdkPaintableInterface *interface);

G_DEFINE_TYPE_WITH_CODE(
    WebImagePaintable, webimage_paintable, G_TYPE_OBJECT,
    G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, paintable_interface))

static void webimage_paintable_class_init(WebImagePaintableClass *class) { (void)class; }
static void webimage_paintable_init(WebImagePaintable *self) { (void)self; }

static void snapshot(GdkPaintable *paintable, GdkSnapshot *snapshot, double width, double height) {
    WebImagePaintable *self = (WebImagePaintable *)paintable;
    if (self->owner) self->calls->snapshot(self->owner, snapshot, width, height);
}

static GdkPaintable *current_image(GdkPaintable *paintable) {
    WebImagePaintable *self = (WebImagePaintable *)paintable;
    void *image = self->owner ? self->calls->current_image(self->owner) : NULL;
    return image ? image : gdk_paintable_new_empty(self->width, self->height);
}

static int intrinsic_width(GdkPaintable *paintable) { return ((WebImagePaintable *)paintable)->width; }
static int intrinsic_height(GdkPaintable *paintable) { return ((WebImagePaintable *)paintable)->height; }
static double intrinsic_ratio(GdkPaintable *paintable) { return ((WebImagePaintable *)paintable)->ratio; }

static void paintable_interface(GdkPaintableInterface *interface) {
    interface->snapshot = snapshot;
    interface->get_current_image = current_image;
    interface->get_intrinsic_width = intrinsic_width;
    interface->get_intrinsic_height = intrinsic_height;
    interface->get_intrinsic_aspect_ratio = intrinsic_ratio;
}

void *webimage_gtk_paintable_new(const webimage_gtk_paintable_calls *calls) {
    WebImagePaintable *self = g_object_new(webimage_paintable_get_type(), NULL);
    self->calls = calls;
    return self;
}

void webimage_gtk_paintable_set_owner(void *paintable, void *owner) {
    ((WebImagePaintable *)paintable)->owner = owner;
    gdk_paintable_invalidate_contents(paintable);
}

void webimage_gtk_paintable_set_size(void *paintable, int width, int height, double ratio) {
    WebImagePaintable *self = paintable;
    if (self->width == width && self->height == height && self->ratio == ratio) return;
    self->width = width;
    self->height = height;
    self->ratio = ratio;
    gdk_paintable_invalidate_size(paintable);
}

bool webimage_gtk_is_a(void *instance, size_t type) {
    return instance && g_type_check_instance_is_a((GTypeInstance *)instance, type);
}

bool webimage_gtk_get_flag(void *object, const char *property) {
    gboolean flag = FALSE;
    g_object_get(object, property, &flag, NULL);
    return flag;
}

bool webimage_gtk_has_property(void *object, const char *property) {
    return g_object_class_find_property(G_OBJECT_GET_CLASS(object), property) != NULL;
}
