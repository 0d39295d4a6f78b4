#include "CWebImageGTKShims.h"

#include <sys/eventfd.h>

int webimage_gtk_wakeup_new(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

void webimage_gtk_wakeup_signal(int wakeup) { eventfd_write(wakeup, 1); }

void webimage_gtk_wakeup_clear(int wakeup) {
    eventfd_t count;
    eventfd_read(wakeup, &count);
}
