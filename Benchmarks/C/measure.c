// measure REPORT COMMAND…: runs a command and writes its wall clock, its CPU time and its peak memory (with all of its
// descendants it waited for; the peak is that of the largest one) to the file REPORT.
//
// A program of its own, since the peak that the kernel reports for a child begins with the memory of who forked it.
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count < 3) die("usage: measure REPORT COMMAND…");
    double start = seconds_now();
    pid_t child = fork();
    if (child < 0) die("fork: %s", strerror(errno));
    if (child == 0) {
        execvp(arguments[2], arguments + 2);
        die("%s: %s", arguments[2], strerror(errno));
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) < 0) die("wait4: %s", strerror(errno));
    double elapsed = seconds_now() - start;
    if (!freopen(arguments[1], "w", stdout)) die("%s: %s", arguments[1], strerror(errno));
    report("wall", elapsed, "s");
    report("cpu", (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
               + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6, "s");
    report("peak", (double)usage.ru_maxrss / 1024, "MB");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
