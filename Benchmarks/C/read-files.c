// read-files PASSES LIST: opens, sizes and reads each file of the list into fresh memory; time per file, median of passes.
#include "bench.h"

#include <stdlib.h>

int main(int count, char **arguments) {
    if (count != 3) die("usage: read-files PASSES LIST");
    size_t passes = (size_t)atoi(arguments[1]), files;
    char **paths = read_lines(arguments[2], &files);
    double *times = need(passes * sizeof *times);
    for (size_t pass = 0; pass < passes; pass++) {
        double start = seconds_now();
        for (size_t i = 0; i < files; i++) free(read_file(paths[i]).bytes);
        times[pass] = (seconds_now() - start) * 1e6 / (double)files;
    }
    report("read", median(times, passes), "us");
    return 0;
}
