#include "CLinux.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// The sizes of libcurl's transfer buffers; it allocates nothing else of these sizes.
enum { smallest = 128 << 10, biggest = 640 << 10, most = 32 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *kept[most];
static int kept_count;

static void *take(size_t size) {
    void *block = NULL;
    pthread_mutex_lock(&mutex);
    // The newest block has the warmest pages. All have the same size, unless the program also uses libcurl elsewhere.
    if (kept_count > 0 && malloc_usable_size(kept[kept_count - 1]) >= size) block = kept[--kept_count];
    pthread_mutex_unlock(&mutex);
    return block;
}

static int keep(void *block) {
    pthread_mutex_lock(&mutex);
    int is_kept = kept_count < most;
    if (is_kept) kept[kept_count++] = block;
    pthread_mutex_unlock(&mutex);
    return is_kept;
}

void *webimage_transfer_malloc(size_t size) {
    void *block = size < smallest || size > biggest ? NULL : take(size);
    return block ? block : malloc(size);
}

void webimage_transfer_free(void *block) {
    size_t size = malloc_usable_size(block);
    if (size < smallest || size > biggest || !keep(block)) free(block);
}

void *webimage_transfer_realloc(void *block, size_t size) { return realloc(block, size); }

void *webimage_transfer_calloc(size_t count, size_t size) { return calloc(count, size); }

char *webimage_transfer_strdup(const char *text) { return strdup(text); }

void webimage_transfer_trim(void) {
    for (void *block = take(0); block; block = take(0)) free(block);
}
