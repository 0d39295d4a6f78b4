// thumbnail-pipeline high|fast THREADS QUALITY URLS DIRECTORY: downloads pictures, six at once, and writes 300 pixel JPEG
// thumbnails; pictures per second, CPU time, peak memory.
#include "thumbnail.h"
#include "transfer.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 6, WAITING = 8 };  // bodies that may wait for a worker before downloads are held back

typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    Blob bodies[WAITING + AT_ONCE];
    size_t indices[WAITING + AT_ONCE];
    int count, closed;
    const char *directory;
    char **urls;
    Quality quality;
    int jpeg_quality;
} Shop;

static void put(void *context, size_t index, Blob body) {
    Shop *shop = context;
    pthread_mutex_lock(&shop->mutex);
    shop->bodies[shop->count] = body;
    shop->indices[shop->count++] = index;
    pthread_cond_signal(&shop->filled);
    pthread_mutex_unlock(&shop->mutex);
}

static int has_room(void *context) {
    Shop *shop = context;
    pthread_mutex_lock(&shop->mutex);
    int room = shop->count < WAITING;
    pthread_mutex_unlock(&shop->mutex);
    return room;
}

static void make(Shop *shop, size_t index, Blob body) {
    const char *name = strrchr(shop->urls[index], '/') + 1;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", shop->directory, name);
    Picture picture = make_thumbnail(body, 300, 300, shop->quality);
    Blob jpeg = encode_jpeg(picture, shop->jpeg_quality);
    write_file(path, jpeg.bytes, jpeg.count);
    free(jpeg.bytes);
    free(picture.rgb);
}

static void *work(void *context) {
    Shop *shop = context;
    for (;;) {
        pthread_mutex_lock(&shop->mutex);
        while (shop->count == 0 && !shop->closed) pthread_cond_wait(&shop->filled, &shop->mutex);
        if (shop->count == 0) break;
        Blob body = shop->bodies[--shop->count];
        size_t index = shop->indices[shop->count];
        pthread_mutex_unlock(&shop->mutex);
        make(shop, index, body);
        free(body.bytes);
    }
    pthread_mutex_unlock(&shop->mutex);
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 6) die("usage: thumbnail-pipeline high|fast THREADS QUALITY URLS DIRECTORY");
    size_t urls;
    int threads = atoi(arguments[2]);
    Shop shop = {.mutex = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};
    shop.quality = strcmp(arguments[1], "fast") == 0 ? QUALITY_FAST : QUALITY_HIGH;
    shop.jpeg_quality = atoi(arguments[3]);
    shop.urls = read_lines(arguments[4], &urls);
    shop.directory = arguments[5];
    double start = seconds_now();
    pthread_t *workers = need((size_t)threads * sizeof *workers);
    for (int i = 0; i < threads; i++) pthread_create(&workers[i], NULL, work, &shop);
    download_all(shop.urls, urls, AT_ONCE, put, has_room, &shop);
    pthread_mutex_lock(&shop.mutex);
    shop.closed = 1;
    pthread_cond_broadcast(&shop.filled);
    pthread_mutex_unlock(&shop.mutex);
    for (int i = 0; i < threads; i++) pthread_join(workers[i], NULL);
    report("pictures", (double)urls / (seconds_now() - start), "1/s");
    report("cpu", cpu_seconds(), "s");
    report("peak", peak_megabytes(), "MB");
    return 0;
}
