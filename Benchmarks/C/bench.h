// What the C peers share: clocks, files, the report. A report is lines of `name<TAB>value<TAB>unit`.
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    unsigned char *bytes;
    size_t count;
} Blob;

double seconds_now(void);          // monotonic
double cpu_seconds(void);          // user and system time of the process
double resident_megabytes(void);   // resident set now
double peak_megabytes(void);       // largest resident set since the start or the last reset
void reset_peak(void);
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void *need(size_t count);          // malloc that never answers NULL
Blob read_file(const char *path);  // caller frees bytes
void write_file(const char *path, const void *bytes, size_t count);
char **read_lines(const char *path, size_t *count);  // one allocation per line; never freed
void report(const char *name, double value, const char *unit);
int compare_doubles(const void *a, const void *b);
double median(double *values, size_t count);  // sorts

#endif
