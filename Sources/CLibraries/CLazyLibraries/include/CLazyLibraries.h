#ifndef CLAZYLIBRARIES_H
#define CLAZYLIBRARIES_H

// Linking this module is all: see CLazyLibraries.c.

#endif
