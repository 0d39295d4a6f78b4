// Calls a function of CLazyLibraries with more arguments than registers take. The library is here: dlopen and dlsym are replaced.
#include <stdio.h>
#include <string.h>

static double sum(long a, long b, long c, long d, long e, long f, long g, long h, long i, double p, double q, double r, double s, double t, double u,
                  double v, double w, double x) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + p + 2 * q + 3 * r + 4 * s + 5 * t + 6 * u + 7 * v + 8 * w + 9 * x;
}

static int count;

void *dlopen(const char *name, int flags) {
    (void)flags;
    count += strcmp(name, "libcurl.so.4") == 0;
    return &count;
}

void *dlsym(void *library, const char *name) { return library == &count && strcmp(name, "curl_easy_init") == 0 ? (void *)sum : NULL; }

char *dlerror(void) { return "another library or function was asked for"; }

// Its type in this program is that of `sum`.
double curl_easy_init(long, long, long, long, long, long, long, long, long, double, double, double, double, double, double, double, double, double);

int main(void) {
    double expected = sum(1, 2, 3, 4, 5, 6, 7, 8, 9, .1, .2, .3, .4, .5, .6, .7, .8, .9);
    for (int turn = 0; turn < 3; turn++) {
        double result = curl_easy_init(1, 2, 3, 4, 5, 6, 7, 8, 9, .1, .2, .3, .4, .5, .6, .7, .8, .9);
        if (result != expected) return printf("%g instead of %g\n", result, expected), 1;
    }
    return count == 1 ? 0 : (printf("looked up %d times\n", count), 1);
}
