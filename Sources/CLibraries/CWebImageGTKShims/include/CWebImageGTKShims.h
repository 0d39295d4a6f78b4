// Functions that Swift cannot implement itself: a GLib source that serves Dispatch's main queue, and a class that implements GdkPaintable.
//
// GTK's types are `void *` here, so that this header does not include GTK's: two modules that both include them would clash.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Attaches a source to the default main context that serves Dispatch's main queue, on which Swift's main actor runs. Idempotent. Main
/// thread only.
void webimage_gtk_serve_main_queue(void);

/// Returns an eventfd that a main loop can poll, or -1 if no file descriptor is available.
int webimage_gtk_wakeup_new(void);

/// Makes the descriptor readable. Any thread; takes no lock.
void webimage_gtk_wakeup_signal(int wakeup);

/// Makes the descriptor not readable.
void webimage_gtk_wakeup_clear(int wakeup);

/// Returns a timerfd that a main loop can poll, or -1 if no file descriptor is available.
int webimage_gtk_alarm_new(void);

/// Makes the descriptor readable after a delay, and not readable until then; 0 disarms it. Any thread; takes no lock.
void webimage_gtk_alarm_set(int alarm, unsigned milliseconds);

/// The callbacks of a paintable to its owner.
typedef struct {
    /// Draws into a GtkSnapshot.
    void (*snapshot)(void *owner, void *snapshot, double width, double height);
    /// Returns a new reference to an immutable GdkPaintable that looks like this one now; NULL for an empty one.
    void *(*current_image)(void *owner);
} webimage_gtk_paintable_calls;

/// Creates a paintable with one reference and without an owner. `calls` must live as long as the program.
void *webimage_gtk_paintable_new(const webimage_gtk_paintable_calls *calls);

/// Sets the owner, which draws the paintable; NULL for none, and then nothing is drawn.
void webimage_gtk_paintable_set_owner(void *paintable, void *owner);

/// Sets the intrinsic size, 0 for none, and the aspect ratio (width by height), 0 for none.
void webimage_gtk_paintable_set_size(void *paintable, int width, int height, double ratio);

/// Returns whether an instance is of a class or implements an interface. `type` is a GType. False for NULL.
bool webimage_gtk_is_a(void *instance, size_t type);

/// Returns the value of a Boolean property.
bool webimage_gtk_get_flag(void *object, const char *property);

/// Returns whether an object's class has a property.
bool webimage_gtk_has_property(void *object, const char *property);
