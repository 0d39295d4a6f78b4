// jpeg-decode full|high|fast ITERATIONS FILE…
//     decodes each file that often from memory; CPU time per picture
// jpeg-decode peak full|high|fast SMALL LARGE
//     decodes a small file to warm up, then a large one; heap and memory that the second took at its peak,
//     and memory of the process
#include "thumbnail.h"

#include <CAllocationCounter.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void decode(const char *mode, Blob jpeg, Canvas *canvas) {
    if (strcmp(mode, "full") == 0) {
        decode_bgra(jpeg, canvas);
    } else {
        free(make_thumbnail(jpeg, 300, 300, strcmp(mode, "fast") == 0 ? QUALITY_FAST : QUALITY_HIGH).rgb);
    }
}

static void peak(const char *mode, const char *small, const char *large) {
    Blob warm_up = read_file(small), jpeg = read_file(large);
    Canvas canvas = {0};
    decode(mode, warm_up, &canvas);
    double before = resident_megabytes();
    reset_peak();
    long heap_before = bench_heap_bytes();
    bench_heap_reset_peak();
    decode(mode, jpeg, &canvas);
    report("heap", (double)(bench_heap_peak_bytes() - heap_before) / (1 << 20), "MB");
    report("growth", peak_megabytes() - before, "MB");
    report("peak", peak_megabytes(), "MB");
}

int main(int count, char **arguments) {
    if (count == 5 && strcmp(arguments[1], "peak") == 0) {
        peak(arguments[2], arguments[3], arguments[4]);
        return 0;
    }
    if (count < 4) die("usage: jpeg-decode full|high|fast ITERATIONS FILE… | peak full|high|fast SMALL LARGE");
    int iterations = atoi(arguments[2]), files = count - 3;
    Blob *blobs = need((size_t)files * sizeof *blobs);
    for (int i = 0; i < files; i++) blobs[i] = read_file(arguments[i + 3]);
    Canvas canvas = {0};
    for (int i = 0; i < files; i++) decode(arguments[1], blobs[i], &canvas);
    double cpu = cpu_seconds();
    for (int turn = 0; turn < iterations; turn++)
        for (int i = 0; i < files; i++) decode(arguments[1], blobs[i], &canvas);
    report("cpu", (cpu_seconds() - cpu) * 1000 / iterations / files, "ms");
    return 0;
}
