// Single frames of videos, decoded by FFmpeg's libraries. Their builds are usually GPL: only the worker program for videos may link this.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// An open video. For one thread at a time.
typedef struct webimage_video webimage_video;

enum webimage_video_problem {
    webimage_video_none = 0,
    webimage_video_damaged,
    /// The file has no video, or one of a codec that is not decoded.
    webimage_video_unsupported,
    webimage_video_no_memory,
    /// A frame has more pixels than allowed; the message is their number.
    webimage_video_too_large,
};

enum webimage_video_container { webimage_video_iso_media, webimage_video_matroska };

/// Reads bytes of the file at an offset. Returns their number, 0 at the end of the file, or a negative number, after which it is not called again.
typedef ptrdiff_t webimage_video_reader(void *context, int64_t offset, void *buffer, size_t count);

struct webimage_video_source {
    webimage_video_reader *read;
    void *context;
    int64_t byte_count;
    enum webimage_video_container container;
    /// The largest number of pixels of a frame.
    int64_t most_pixels;
};

/// A frame's size and colours. After opening as the file declares them; after decoding those of the frame.
struct webimage_video_info {
    int width;
    int height;
    /// The width of a pixel divided by its height.
    double pixel_aspect;
    /// The EXIF orientation that shows the stored frames upright.
    int orientation;
    /// In seconds; 0 if unknown.
    double duration;
    int bits_per_component;
    /// ITU-T H.273.
    int primaries;
    int transfer;
    /// Indicates whether the decoder has filled in parts of the frame.
    bool is_damaged;
};

/// Opens a file and finds its video, without decoding. On failure it returns NULL, sets the problem, and copies a message, truncated to
/// `message_length`. The source's context must outlive the video.
webimage_video *webimage_video_open(
    const struct webimage_video_source *source, enum webimage_video_problem *problem, char *message, size_t message_length);
void webimage_video_close(webimage_video *video);

struct webimage_video_info webimage_video_info(const webimage_video *video);

/// Decodes the frame that is shown at `seconds`, the last one if the video ends before; or, if `seconds` is negative, the first frame that is not
/// black.
enum webimage_video_problem webimage_video_decode(webimage_video *video, double seconds, char *message, size_t message_length);

/// Converts the decoded frame to RGB of `width` by `height` pixels, with 8 or 16 bits per component. Up to 64
/// bytes after a row may be written.
enum webimage_video_problem webimage_video_convert(
    webimage_video *video, int width, int height, bool is_deep, void *pixels, ptrdiff_t bytes_per_row, char *message,
    size_t message_length);
