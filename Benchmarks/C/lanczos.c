#include "lanczos.h"

#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Compiled several times; the loader takes the version that the processor can run.
#define FAST __attribute__((target_clones("default", "avx2", "avx512f"), optimize("O3")))

typedef float Pixel __attribute__((vector_size(16)));

typedef struct {
    int first, count;  // source positions
    float *weights;    // they add up to 1
} Taps;

struct Lanczos {
    int width, result_width, result_height;
    int row, finished;
    int ring_size;
    Taps *columns, *rows;
    float *ring;  // ring_size rows of width * 4 sums
    unsigned char *result;
};

static double kernel(double x) {
    x = fabs(x);
    if (x < 1e-9) return 1;
    if (x >= 3) return 0;
    double t = M_PI * x;
    return 3 * sin(t) * sin(t / 3) / (t * t);
}

static Taps *make_taps(int source, int result) {
    double scale = (double)source / result, width = scale > 1 ? scale : 1;
    Taps *taps = need((size_t)result * sizeof *taps);
    for (int i = 0; i < result; i++) {
        double centre = (i + 0.5) * scale;
        int first = (int)floor(centre - 3 * width), last = (int)ceil(centre + 3 * width);
        if (first < 0) first = 0;
        if (last > source) last = source;
        float *weights = need((size_t)(last - first) * sizeof *weights);
        double total = 0;
        for (int j = first; j < last; j++) total += weights[j - first] = (float)kernel((j + 0.5 - centre) / width);
        for (int j = first; j < last; j++) weights[j - first] /= (float)total;
        taps[i] = (Taps){first, last - first, weights};
    }
    return taps;
}

static void free_taps(Taps *taps, int count) {
    for (int i = 0; i < count; i++) free(taps[i].weights);
    free(taps);
}

Lanczos *lanczos_new(int width, int height, int result_width, int result_height, unsigned char *result) {
    Lanczos *lanczos = need(sizeof *lanczos);
    *lanczos = (Lanczos){.width = width, .result_width = result_width, .result_height = result_height};
    lanczos->result = result;
    lanczos->columns = make_taps(height, result_height);
    lanczos->rows = make_taps(width, result_width);
    // Result rows that a source row can still reach: those whose taps overlap.
    for (int i = 0; i < result_height; i++) {
        int reach = 0;
        Taps mine = lanczos->columns[i];
        for (int j = i; j < result_height && lanczos->columns[j].first < mine.first + mine.count; j++) reach++;
        if (reach > lanczos->ring_size) lanczos->ring_size = reach;
    }
    size_t sums = (size_t)lanczos->ring_size * (size_t)width * 4;
    lanczos->ring = aligned_alloc(16, sums * sizeof(float));
    if (!lanczos->ring) die("no memory");
    memset(lanczos->ring, 0, sums * sizeof(float));
    return lanczos;
}

FAST static void accumulate(float *restrict sums, const unsigned char *restrict row, float weight, int count) {
    for (int i = 0; i < count; i++) sums[i] += weight * (float)row[i];
}

static unsigned char clamp(float value) {
    return value <= 0 ? 0 : value >= 255 ? 255 : (unsigned char)(value + 0.5f);
}

FAST static void finish(const Taps *taps, int count, const float *sums, unsigned char *rgb) {
    for (int i = 0; i < count; i++) {
        const Pixel *source = (const Pixel *)sums + taps[i].first;
        Pixel even = {0}, odd = {0};
        int j = 0;
        for (; j + 1 < taps[i].count; j += 2) {
            even += taps[i].weights[j] * source[j];
            odd += taps[i].weights[j + 1] * source[j + 1];
        }
        if (j < taps[i].count) even += taps[i].weights[j] * source[j];
        Pixel sum = even + odd;
        for (int band = 0; band < 3; band++) rgb[3 * i + band] = clamp(sum[band]);
    }
}

void lanczos_row(Lanczos *lanczos, const unsigned char *rgbx) {
    int count = lanczos->width * 4, row = lanczos->row++;
    for (int i = lanczos->finished; i < lanczos->result_height && lanczos->columns[i].first <= row; i++) {
        Taps taps = lanczos->columns[i];
        if (row >= taps.first + taps.count) continue;
        accumulate(lanczos->ring + (size_t)(i % lanczos->ring_size) * (size_t)count, rgbx,
                   taps.weights[row - taps.first], count);
    }
    while (lanczos->finished < lanczos->result_height) {
        Taps taps = lanczos->columns[lanczos->finished];
        if (row + 1 < taps.first + taps.count) break;
        float *sums = lanczos->ring + (size_t)(lanczos->finished % lanczos->ring_size) * (size_t)count;
        finish(lanczos->rows, lanczos->result_width, sums,
               lanczos->result + (size_t)lanczos->finished * (size_t)lanczos->result_width * 3);
        memset(sums, 0, (size_t)count * sizeof(float));
        lanczos->finished++;
    }
}

void lanczos_free(Lanczos *lanczos) {
    free_taps(lanczos->columns, lanczos->result_height);
    free_taps(lanczos->rows, lanczos->result_width);
    free(lanczos->ring);
    free(lanczos);
}
