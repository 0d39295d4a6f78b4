// What Swift cannot make by itself: a source that serves Dispatch's main queue, and a class that is a GdkPaintable.
//
// GTK's types are `void *` here, so that this header needs none of GTK's: two modules that both had them would clash.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Attaches a source to the default main context that runs what waits on Dispatch's main queue, which Swift's main actor runs on. Once;
/// later calls do nothing. On the main thread.
void webimage_gtk_serve_main_queue(void);

/// A file descriptor that a main loop can wait for, or -1 when there is none left.
int webimage_gtk_wakeup_new(void);

/// Makes it readable. Any thread; takes no lock.
void webimage_gtk_wakeup_signal(int wakeup);

/// Makes it not readable.
void webimage_gtk_wakeup_clear(int wakeup);

/// A file descriptor that a main loop can wait for, which becomes readable at a time; -1 when there is none left.
int webimage_gtk_alarm_new(void);

/// Says when it becomes readable, from now on, and makes it not readable until then; 0 for never. Any thread; takes no lock.
void webimage_gtk_alarm_set(int alarm, unsigned milliseconds);

/// What a paintable asks its owner.
typedef struct {
    /// Draws into a GtkSnapshot.
    void (*snapshot)(void *owner, void *snapshot, double width, double height);
    /// A new reference to a GdkPaintable that never changes and looks as this one does now; NULL for an empty one.
    void *(*current_image)(void *owner);
} webimage_gtk_paintable_calls;

/// A new paintable, with one reference and without owner. `calls` must live as long as the program.
void *webimage_gtk_paintable_new(const webimage_gtk_paintable_calls *calls);

/// Says who draws; NULL for nobody, and then nothing is drawn.
void webimage_gtk_paintable_set_owner(void *paintable, void *owner);

/// Says what size it would like to have, 0 for none, and its ratio of width to height, 0 for none.
void webimage_gtk_paintable_set_size(void *paintable, int width, int height, double ratio);

/// Whether an instance is of a class or has an interface, which is a GType. False for NULL.
bool webimage_gtk_is_a(void *instance, size_t type);

/// The value of a property that is true or false.
bool webimage_gtk_get_flag(void *object, const char *property);

/// Whether an object's class has a property.
bool webimage_gtk_has_property(void *object, const char *property);
