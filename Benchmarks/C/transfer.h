// Downloads a list of URLs with libcurl's multi interface on the calling thread.
#ifndef TRANSFER_H
#define TRANSFER_H

#include "bench.h"

// Called on the downloading thread with each body, in the order they finish; takes over the bytes.
typedef void (*BodyHandler)(void *context, size_t index, Blob body);

// Blocks until all are done. Dies at the first failure. `may_start` is asked before each transfer is started; when it says
// no, the loop goes on with those that run and asks again.
void download_all(char **urls, size_t count, int at_once, BodyHandler handler, int (*may_start)(void *), void *context);

#endif
