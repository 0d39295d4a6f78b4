// Makes pictures smaller with a Lanczos-3 filter, RGBX in, RGB out, fed row by row: columns first, since those vectorise,
// in a ring of as many unfinished result rows as the filter reaches; then the finished rows.
#ifndef LANCZOS_H
#define LANCZOS_H

typedef struct Lanczos Lanczos;

Lanczos *lanczos_new(int width, int height, int result_width, int result_height, unsigned char *result);
void lanczos_row(Lanczos *lanczos, const unsigned char *rgbx);
void lanczos_free(Lanczos *lanczos);

#endif
