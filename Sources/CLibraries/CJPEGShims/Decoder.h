// The decoder's state, shared by decoding what is whole and what is still arriving.
#pragma once
#include "Errors.h"

struct webimage_jpeg_decoder {
    struct jpeg_decompress_struct info;
    struct error_trap trap;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    unsigned maximum_scans;
    /// Nanoseconds of the monotonic clock; 0 for none.
    uint64_t deadline;
    /// Whether the decoder asked for bytes after the last one.
    bool hit_end;
    /// Whether more bytes may come.
    bool awaits_more;
    /// Bytes so far, and those to be passed over that have not come yet.
    size_t byte_count;
    size_t to_skip;
    bool has_header;
    /// Whether damage is painted over, as browsers do, and whether some was.
    bool tolerates_damage;
    bool is_damaged;
};

/// Sets what comes out, after the header was read.
void decoder_configure(
    struct webimage_jpeg_decoder *decoder, enum webimage_jpeg_pixels pixels, unsigned eighths, unsigned maximum_scans);
/// Raises an error when there are more scans than allowed, or the time is over.
void decoder_check_bounds(struct webimage_jpeg_decoder *decoder);
/// Raises an error when the bytes ran out and something of the picture is missing.
void decoder_check_completeness(struct webimage_jpeg_decoder *decoder);
