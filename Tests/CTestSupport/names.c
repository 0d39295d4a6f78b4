#define _GNU_SOURCE
#include "CTestSupport.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_held;
static int waiting;

typedef int lookup(const char *, const char *, const struct addrinfo *, struct addrinfo **);

/// Overrides the C library's function in the whole process, libcurl included.
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    if (!node || strcmp(node, "held.invalid") != 0) {
        lookup *next = (lookup *)dlsym(RTLD_NEXT, "getaddrinfo");
        return next ? next(node, service, hints, result) : EAI_SYSTEM;
    }
    pthread_mutex_lock(&lock);
    waiting++;
    pthread_cond_broadcast(&changed);
    while (is_held) pthread_cond_wait(&changed, &lock);
    waiting--;
    pthread_mutex_unlock(&lock);
    return EAI_AGAIN;
}

void ctest_hold_names(int holds) {
    pthread_mutex_lock(&lock);
    is_held = holds;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

int ctest_wait_for_held_name(int seconds) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += seconds;
    pthread_mutex_lock(&lock);
    int status = 0;
    while (waiting == 0 && status == 0) status = pthread_cond_timedwait(&changed, &lock, &end);
    int is_waiting = waiting > 0;
    pthread_mutex_unlock(&lock);
    return is_waiting;
}
