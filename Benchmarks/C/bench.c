#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

// Not getrusage: its peak outlives exec, so a small program would inherit that of the process that started it.
static double status_megabytes(const char *pattern) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    double kilobytes = 0;
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, pattern, &kilobytes) == 1) break;
    if (status) fclose(status);
    return kilobytes / 1024;
}

double resident_megabytes(void) { return status_megabytes("VmRSS: %lf"); }

double peak_megabytes(void) { return status_megabytes("VmHWM: %lf"); }

void reset_peak(void) { write_file("/proc/self/clear_refs", "5", 1); }

void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void *need(size_t count) {
    void *memory = malloc(count ? count : 1);
    if (!memory) die("no memory for %zu bytes", count);
    return memory;
}

Blob read_file(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) die("%s: %s", path, strerror(errno));
    Blob blob = {need((size_t)status.st_size), (size_t)status.st_size};
    size_t done = 0;
    while (done < blob.count) {
        ssize_t got = read(file, blob.bytes + done, blob.count - done);
        if (got <= 0) die("%s: %s", path, got < 0 ? strerror(errno) : "shorter than it was");
        done += (size_t)got;
    }
    close(file);
    return blob;
}

void write_file(const char *path, const void *bytes, size_t count) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) die("%s: %s", path, strerror(errno));
    const char *next = bytes;
    while (count > 0) {
        ssize_t put = write(file, next, count);
        if (put < 0) die("%s: %s", path, strerror(errno));
        next += put;
        count -= (size_t)put;
    }
    if (close(file) != 0) die("%s: %s", path, strerror(errno));
}

char **read_lines(const char *path, size_t *count) {
    FILE *file = fopen(path, "r");
    if (!file) die("%s: %s", path, strerror(errno));
    size_t capacity = 256, length;
    char **lines = need(capacity * sizeof *lines);
    char *line = NULL;
    size_t room = 0;
    *count = 0;
    while (getline(&line, &room, file) > 0) {
        length = strcspn(line, "\r\n");
        line[length] = 0;
        if (length == 0) continue;
        if (*count == capacity) lines = realloc(lines, (capacity *= 2) * sizeof *lines);
        if (!lines || !(lines[(*count)++] = strdup(line))) die("no memory");
    }
    free(line);
    fclose(file);
    return lines;
}

void report(const char *name, double value, const char *unit) { printf("%s\t%.6g\t%s\n", name, value, unit); }

int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
