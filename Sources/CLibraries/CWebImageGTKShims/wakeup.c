#include "CWebImageGTKShims.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>

int webimage_gtk_wakeup_new(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

void webimage_gtk_wakeup_signal(int wakeup) { eventfd_write(wakeup, 1); }

void webimage_gtk_wakeup_clear(int wakeup) {
    eventfd_t count;
    eventfd_read(wakeup, &count);
}

int webimage_gtk_alarm_new(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC); }

void webimage_gtk_alarm_set(int alarm, unsigned milliseconds) {
    struct itimerspec time = {
        .it_value = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L},
    };
    timerfd_settime(alarm, 0, &time, NULL);
}
