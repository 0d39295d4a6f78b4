// The decoder's state, shared by complete and incremental decoding.
#pragma once
#include "Errors.h"

struct webimage_jpeg_decoder {
    struct jpeg_decompress_struct info;
    struct error_trap trap;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    unsigned maximum_scans;
    /// Nanoseconds on the monotonic clock; 0 for none.
    uint64_t deadline;
    /// The bytes after those of `source`, if any.
    const uint8_t *rest;
    size_t rest_count;
    /// Whether the decoder requested bytes after the last one.
    bool hit_end;
    /// Whether more bytes may follow.
    bool awaits_more;
    /// The number of bytes so far, and of bytes to be skipped that were not received yet.
    size_t byte_count;
    size_t to_skip;
    bool has_header;
    /// Whether damage is painted over, as in browsers, and whether any was.
    bool tolerates_damage;
    bool is_damaged;
};

/// Sets the output format, after the header was read.
void decoder_configure(
    struct webimage_jpeg_decoder *decoder, enum webimage_jpeg_pixels pixels, unsigned eighths, unsigned maximum_scans);
/// Raises an error when there are more scans than allowed, or after the deadline.
void decoder_check_bounds(struct webimage_jpeg_decoder *decoder);
/// Raises an error when the bytes ran out and part of the image is missing.
void decoder_check_completeness(struct webimage_jpeg_decoder *decoder);
