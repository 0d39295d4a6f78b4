#include "CPixels.h"

#include <math.h>

#include "Multiversion.h"

/// Makes weights add up to 1; the first becomes 1 if all are 0.
INLINE void normalize(float *weights, const size_t taps, double sum) {
    const double factor = sum != 0 ? 1 / sum : 0;
    for (size_t k = 0; k < taps; k++) { weights[k] = (float)((double)weights[k] * factor); }
    if (sum == 0) { weights[0] = 1; }
}

void cpixels_find_reach(
    size_t input_count, double origin, double scale, double support, size_t taps, int32_t *first, int32_t *end, size_t count) {
    const int most = (int)input_count;
    for (size_t x = 0; x < count; x++) {
        const double centre = origin + ((double)x + 0.5) * scale;
        int low = (int)(centre - support + 0.5), high = (int)(centre + support + 0.5);
        if (low < 0) { low = 0; }
        if (high > most) { high = most; }
        if (high > low + (int)taps) { high = low + (int)taps; }
        first[x] = low;
        end[x] = high > low ? high : low + 1;
    }
}

/// The distance of the first pixel from the centre of a result pixel, in widths of the filter.
INLINE double start_of(const struct cpixels_reach *reach, size_t x, double origin, double scale, double widening) {
    return ((double)reach->first[x] - (origin + ((double)x + 0.5) * scale) + 0.5) / widening;
}

/// Always inlined; most filters have a constant number of taps.
INLINE void area_weights(
    const struct cpixels_reach *reach, const size_t taps, double origin, double scale, float *weights) {
    const double widening = fmax(scale, 1), step = 1 / widening;
    for (size_t x = 0; x < reach->count; x++, weights += taps) {
        const double start = start_of(reach, x, origin, scale, widening);
        const size_t count = (size_t)(reach->end[x] - reach->first[x]);
        double sum = 0;
        for (size_t k = 0; k < taps; k++) {
            double position = start + (double)k * step;
            double upper = position + step / 2 < 0.5 ? position + step / 2 : 0.5;
            double lower = position - step / 2 > -0.5 ? position - step / 2 : -0.5;
            double weight = upper > lower && k < count ? upper - lower : 0;
            weights[k] = (float)weight;
            sum += weight;
        }
        normalize(weights, taps, sum);
    }
}

MULTIVERSION
void cpixels_area_weights(struct cpixels_reach reach, double origin, double scale, float *weights) {
    if (reach.taps == 4) {
        area_weights(&reach, 4, origin, scale, weights);
    } else {
        area_weights(&reach, reach.taps, origin, scale, weights);
    }
}

MULTIVERSION
void cpixels_lanczos_weights(struct cpixels_reach reach, double origin, double scale, float *weights) {
    enum { lanes = 4 };
    const double widening = fmax(scale, 1), step = 1 / widening, third = acos(-1) / 3;
    // The sines of equally spaced angles follow from each other by a rotation, four pixels at a time.
    double sines[lanes], cosines[lanes];
    for (int i = 0; i < lanes; i++) {
        sines[i] = sin(i * step * third);
        cosines[i] = cos(i * step * third);
    }
    const double turn_sine = sin(lanes * step * third), turn_cosine = cos(lanes * step * third);
    for (size_t x = 0; x < reach.count; x++, weights += reach.taps) {
        const double start = start_of(&reach, x, origin, scale, widening);
        const size_t count = (size_t)(reach.end[x] - reach.first[x]);
        const double start_sine = sin(start * third), start_cosine = cos(start * third);
        double s[lanes], c[lanes], sums[lanes] = {0};
        for (int i = 0; i < lanes; i++) {
            s[i] = start_sine * cosines[i] + start_cosine * sines[i];
            c[i] = start_cosine * cosines[i] - start_sine * sines[i];
        }
        for (size_t k = 0; k < reach.taps; k += lanes) {
            for (int i = 0; i < lanes; i++) {
                const double position = start + (double)(k + (size_t)i) * step, angle = position * third;
                // At the centre the quotient would divide two rounding errors; the curve is flat there. Note that sin(3a) = 3 sin a - 4 sin^3 a.
                const double curve = (3 - 4 * s[i] * s[i]) * s[i] * s[i] / (3 * angle * angle);
                const double weight = fabs(position) < 1e-4 ? 1 : fabs(position) < 3 ? curve : 0;
                const double kept = k + (size_t)i < count ? weight : 0;
                weights[k + (size_t)i] = (float)kept;
                sums[i] += kept;
                const double turned = s[i] * turn_cosine + c[i] * turn_sine;
                c[i] = c[i] * turn_cosine - s[i] * turn_sine;
                s[i] = turned;
            }
        }
        normalize(weights, reach.taps, sums[0] + sums[1] + sums[2] + sums[3]);
    }
}

MULTIVERSION
void cpixels_weight_shares(const float *weights, uint16_t *shares, size_t count) {
    for (size_t i = 0; i + 4 <= count; i += 4) {
        int sum = 0;
        size_t largest = i;
        for (size_t k = i; k < i + 4; k++) {
            shares[k] = (uint16_t)(weights[k] * 256 + 0.5f);
            sum += shares[k];
            if (shares[k] > shares[largest]) { largest = k; }
        }
        shares[largest] = (uint16_t)(shares[largest] + 256 - sum);
    }
}
