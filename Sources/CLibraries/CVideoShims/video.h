// What the files of this module share.
#pragma once
#include "CVideoShims.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

struct webimage_video {
    struct webimage_video_source source;
    int64_t offset;
    /// Indicates whether the source could not be read, after which it is not asked again.
    bool has_read_error;
    AVIOContext *io;
    AVFormatContext *format;
    AVStream *stream;
    AVCodecContext *decoder;
    AVPacket *packet;
    /// The frame that was chosen, if there is one.
    AVFrame *frame;
    bool has_frame;
    /// The frame that was decoded last.
    AVFrame *next;
    struct SwsContext *scaler;
};

void webimage_video_report(char *message, size_t length, const char *text);

/// Returns whether a frame has more pixels than allowed; the message is their number then.
bool webimage_video_is_too_large(const webimage_video *video, int width, int height, char *message, size_t length);

/// Decodes the first frame, so that the decoder knows its size, and goes back to the beginning.
void webimage_video_probe(webimage_video *video);

/// Copies the library's message of an error.
enum webimage_video_problem webimage_video_problem_of(int error, char *message, size_t length);
