// resize-vips WIDTHxHEIGHT ITERATIONS FILE
//     resizes a picture that has been decoded that often with libvips, by Lanczos-3, on one thread; CPU time of one
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <vips/vips.h>

static void resize(VipsImage *picture, double across, double down) {
    VipsImage *lazy, *result;
    if (vips_resize(picture, &lazy, across, "vscale", down, "kernel", VIPS_KERNEL_LANCZOS3, NULL)
        || !(result = vips_image_copy_memory(lazy)))
        die("vips: %s", vips_error_buffer());
    g_object_unref(result);
    g_object_unref(lazy);
}

int main(int count, char **arguments) {
    int width, height;
    if (count != 4 || sscanf(arguments[1], "%dx%d", &width, &height) != 2) die("usage: resize-vips WIDTHxHEIGHT ITERATIONS FILE");
    if (VIPS_INIT(arguments[0])) die("vips does not start");
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    VipsImage *file = vips_image_new_from_file(arguments[3], NULL);
    VipsImage *picture = file ? vips_image_copy_memory(file) : NULL;
    if (!picture) die("vips: %s", vips_error_buffer());
    double across = (double)width / vips_image_get_width(picture), down = (double)height / vips_image_get_height(picture);
    resize(picture, across, down);
    int turns = atoi(arguments[2]);
    double cpu = cpu_seconds();
    for (int turn = 0; turn < turns; turn++) resize(picture, across, down);
    report("cpu", (cpu_seconds() - cpu) * 1000 / turns, "ms");
}
