// fetch-parallel AT_ONCE URLS: downloads each URL of the list into memory; requests per second, CPU time, bytes.
#include "transfer.h"

#include <stdlib.h>

static void discard(void *context, size_t index, Blob body) {
    (void)index;
    *(double *)context += (double)body.count;
    free(body.bytes);
}

int main(int count, char **arguments) {
    if (count != 3) die("usage: fetch-parallel AT_ONCE URLS");
    size_t urls;
    char **list = read_lines(arguments[2], &urls);
    double bytes = 0, start = seconds_now(), cpu = cpu_seconds();
    download_all(list, urls, atoi(arguments[1]), discard, NULL, &bytes);
    double elapsed = seconds_now() - start;
    report("requests", (double)urls / elapsed, "1/s");
    report("cpu", cpu_seconds() - cpu, "s");
    report("bytes", bytes, "B");
    report("peak", peak_megabytes(), "MB");
    return 0;
}
