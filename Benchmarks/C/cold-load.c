// cold-load AT_ONCE URLS DIRECTORY: downloads each PNG of the list, writes it to the directory (a hidden file, then renamed),
// decodes it with libpng and keeps the pixels. Microseconds of processor time per picture and, with the library that counts them,
// blocks of the heap per picture.
#define _GNU_SOURCE
#include "bench.h"
#include "transfer.h"

#include <dlfcn.h>
#include <limits.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { FIRST = 16 };  // pictures before those that are measured

typedef struct {
    const char *directory, *prefix;
    char **urls;
    Blob *pictures;
} Shop;

static void keep(Shop *shop, size_t index, Blob body) {
    const char *name = strrchr(shop->urls[index], '/') + 1;
    char temporary[PATH_MAX], path[PATH_MAX];
    snprintf(temporary, sizeof temporary, "%s/.%s", shop->directory, name);
    snprintf(path, sizeof path, "%s/%s", shop->directory, name);
    write_file(temporary, body.bytes, body.count);
    if (rename(temporary, path) != 0) die("%s: cannot be renamed", temporary);
}

static Blob decode(Blob file) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&image, file.bytes, file.count)) die("PNG: %s", image.message);
    image.format = image.format & PNG_FORMAT_FLAG_ALPHA ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
    Blob pixels = {need(PNG_IMAGE_SIZE(image)), PNG_IMAGE_SIZE(image)};
    if (!png_image_finish_read(&image, NULL, pixels.bytes, 0, NULL)) die("PNG: %s", image.message);
    return pixels;
}

static void finish(void *context, size_t index, Blob body) {
    Shop *shop = context;
    keep(shop, index, body);
    shop->pictures[index] = decode(body);
    free(body.bytes);
}

static double kernel_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static unsigned long blocks(void) {
    unsigned long (*count)(void) = (unsigned long (*)(void))dlsym(RTLD_DEFAULT, "bench_process_allocation_count");
    return count ? count() : 0;
}

static void load(Shop *shop, char **urls, size_t count, int at_once) {
    shop->urls = urls;
    shop->pictures = need(count * sizeof *shop->pictures);
    download_all(urls, count, at_once, finish, NULL, shop);
}

int main(int count, char **arguments) {
    if (count != 4) die("usage: cold-load AT_ONCE URLS DIRECTORY");
    size_t urls;
    int at_once = atoi(arguments[1]);
    char **list = read_lines(arguments[2], &urls);
    Shop shop = {.directory = arguments[3]};
    char *first[FIRST];
    size_t before = urls < FIRST ? urls : FIRST;
    for (size_t i = 0; i < before; i++)
        if (asprintf(&first[i], "%s?first", list[i]) < 0) die("no memory");
    load(&shop, first, before, at_once);

    double start = seconds_now(), cpu = cpu_seconds(), kernel = kernel_seconds();
    unsigned long taken = blocks();
    load(&shop, list, urls, at_once);
    report("blocks", (double)(blocks() - taken) / (double)urls, "blocks");
    report("cpu", (cpu_seconds() - cpu) * 1e6 / (double)urls, "us");
    report("kernel", (kernel_seconds() - kernel) * 1e6 / (double)urls, "us");
    report("wall", (seconds_now() - start) * 1e6 / (double)urls, "us");
    report("peak", peak_megabytes(), "MB");
    return 0;
}
