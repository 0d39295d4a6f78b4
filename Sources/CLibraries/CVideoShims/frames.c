#include "video.h"

#include <libavutil/common.h>
#include <libavutil/mathematics.h>
#include <math.h>

/// The places of a video where a frame is searched that is not black, in seconds.
static const double places[] = {0.5, 1, 2, 4, 8, 16, 32, 64};
enum {
    /// The frames that are searched from the beginning of a video without other keyframes.
    most_frames = 240,
    /// The damaged frames that are skipped.
    most_errors = 64,
};

// MARK: Decoding

/// Reads the next packet of the video.
static int read_packet(webimage_video *video) {
    // Discarded streams have no packets in most containers.
    while (true) {
        int result = av_read_frame(video->format, video->packet);
        if (result < 0 || video->packet->stream_index == video->stream->index) return result;
        av_packet_unref(video->packet);
    }
}

/// Decodes the next frame into `next`. Damaged packets are skipped, as players do.
static int decode_next(webimage_video *video) {
    for (int errors = 0;;) {
        int result = avcodec_receive_frame(video->decoder, video->next);
        if (result == AVERROR_INVALIDDATA && errors++ < most_errors) continue;
        if (result != AVERROR(EAGAIN)) return result;
        result = read_packet(video);
        bool is_end = result < 0;
        // A demuxer may report such an error as the end of the file.
        if (is_end && video->has_read_error) return AVERROR(EIO);
        result = avcodec_send_packet(video->decoder, is_end ? NULL : video->packet);
        if (!is_end) av_packet_unref(video->packet);
        if (result == AVERROR(ENOMEM) || (is_end && result < 0)) return result;
    }
}

/// Decodes one packet without those after it: a decoder that reorders frames is told that there are no more.
static int decode_alone(webimage_video *video) {
    int result = read_packet(video);
    if (result < 0) return result;
    result = avcodec_send_packet(video->decoder, video->packet);
    av_packet_unref(video->packet);
    if (result >= 0) result = avcodec_send_packet(video->decoder, NULL);
    if (result >= 0) result = avcodec_receive_frame(video->decoder, video->next);
    avcodec_flush_buffers(video->decoder);
    return result;
}

static void keep(webimage_video *video) {
    av_frame_unref(video->frame);
    av_frame_move_ref(video->frame, video->next);
    video->has_frame = true;
}

/// The time at which the video begins, in the units of its stream.
static int64_t start_time(const webimage_video *video) {
    return video->stream->start_time != AV_NOPTS_VALUE ? video->stream->start_time : 0;
}

/// Takes the time of the first packet for the start of a video that does not say it.
static void find_start_time(webimage_video *video) {
    if (video->stream->start_time != AV_NOPTS_VALUE || read_packet(video) < 0) return;
    if (video->packet->pts != AV_NOPTS_VALUE) video->stream->start_time = video->packet->pts;
    av_packet_unref(video->packet);
}

static int64_t time_of(const AVFrame *frame) {
    return frame->best_effort_timestamp != AV_NOPTS_VALUE ? frame->best_effort_timestamp : frame->pts;
}

static int64_t duration_of(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}

static int64_t units(const webimage_video *video, double seconds) {
    double units = seconds / av_q2d(video->stream->time_base);
    // A file may begin at any time.
    return av_sat_add64(start_time(video), (int64_t)(isfinite(units) ? fmin(fmax(units + 0.01, 0), 1e17) : 0));
}

static int seek(webimage_video *video, int64_t time, bool backward) {
    int result = av_seek_frame(video->format, video->stream->index, time, backward ? AVSEEK_FLAG_BACKWARD : 0);
    avcodec_flush_buffers(video->decoder);
    return result;
}

void webimage_video_probe(webimage_video *video) {
    decode_alone(video);
    av_frame_unref(video->next);
    seek(video, start_time(video), true);
}

// MARK: Black frames

/// Returns the share of pixels that are not black: every fourth pixel of every fourth row.
static double light(const AVFrame *frame) {
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    if (format == NULL || frame->data[0] == NULL || (format->flags & AV_PIX_FMT_FLAG_RGB) || format->comp[0].depth < 8) return 1;
    const AVComponentDescriptor *luma = &format->comp[0];
    bool is_full = frame->color_range == AVCOL_RANGE_JPEG;
    // A twelfth of the way from black to white.
    int darkest = ((is_full ? 0 : 16) + 18) << (luma->depth - 8);
    size_t lit = 0, all = 0;
    for (int y = 0; y < frame->height; y += 4) {
        const uint8_t *row = frame->data[0] + (ptrdiff_t)y * frame->linesize[0] + luma->offset;
        for (int x = 0; x < frame->width; x += 4, all++) {
            const uint8_t *sample = row + (ptrdiff_t)x * luma->step;
            int value = luma->depth > 8 ? (sample[0] | sample[1] << 8) >> luma->shift : sample[0];
            lit += value > darkest;
        }
    }
    return all > 0 ? (double)lit / (double)all : 0;
}

/// Keeps the frame if it is the lightest so far; returns whether it is not black.
static bool consider(webimage_video *video, double *lightest) {
    double share = light(video->next);
    if (share > *lightest || !video->has_frame) {
        *lightest = share;
        keep(video);
    }
    return share >= 0.02;
}

/// Searches from the first frame on.
static int search_frames(webimage_video *video, double *lightest) {
    int result = seek(video, start_time(video), true);
    for (int count = 0; result >= 0 && count < most_frames; count++) {
        result = decode_next(video);
        if (result >= 0 && consider(video, lightest)) return 0;
    }
    return result;
}

/// Returns an error only if there is no frame at all.
static int decode_first(webimage_video *video) {
    double lightest = -1;
    int result = decode_alone(video);
    bool is_alone = result >= 0;
    if (is_alone && consider(video, &lightest)) return 0;
    int64_t last = is_alone ? time_of(video->frame) : INT64_MIN;
    bool has_others = false;
    for (size_t index = 0; is_alone && index < sizeof(places) / sizeof(*places) && !video->has_read_error; index++) {
        int64_t place = units(video, places[index]);
        if (place <= last) continue;
        // The first keyframe from there on.
        if (seek(video, place, false) < 0 || decode_alone(video) < 0) break;
        last = time_of(video->next);
        has_others = true;
        if (consider(video, &lightest)) return 0;
    }
    if (!has_others && !video->has_read_error) result = search_frames(video, &lightest);
    return video->has_frame ? 0 : result < 0 ? result : AVERROR_INVALIDDATA;
}

// MARK: A time

static int decode_at(webimage_video *video, double seconds) {
    find_start_time(video);
    int64_t time = units(video, seconds);
    // A file without an index is read from the beginning.
    if (seek(video, time, true) < 0) seek(video, start_time(video), true);
    while (true) {
        int result = decode_next(video);
        // After an error of reading, the frame before is not the one that is shown then.
        if (result < 0) return video->has_frame && !video->has_read_error ? 0 : result;
        int64_t shown = time_of(video->next);
        if (video->has_frame && shown != AV_NOPTS_VALUE && shown > time) return 0;
        int64_t duration = duration_of(video->next);
        keep(video);
        if (shown != AV_NOPTS_VALUE && duration > 0 && av_sat_add64(shown, duration) > time) return 0;
    }
}

enum webimage_video_problem webimage_video_decode(webimage_video *video, double seconds, char *message, size_t message_length) {
    int result = seconds >= 0 ? decode_at(video, seconds) : decode_first(video);
    if (result >= 0) return webimage_video_none;
    const AVCodecContext *decoder = video->decoder;
    if (webimage_video_is_too_large(video, decoder->width, decoder->height, message, message_length)) return webimage_video_too_large;
    return webimage_video_problem_of(result == AVERROR_EOF ? AVERROR_INVALIDDATA : result, message, message_length);
}

// MARK: RGB

/// Returns the matrix from luma and chroma; for frames that do not say, the one that players assume for their size.
static int matrix(const AVFrame *frame) {
    switch (frame->colorspace) {
    case AVCOL_SPC_BT709: return SWS_CS_ITU709;
    case AVCOL_SPC_FCC: return SWS_CS_FCC;
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M: return SWS_CS_ITU601;
    case AVCOL_SPC_SMPTE240M: return SWS_CS_SMPTE240M;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL: return SWS_CS_BT2020;
    default: return frame->width >= 1280 || frame->height > 576 ? SWS_CS_ITU709 : SWS_CS_ITU601;
    }
}

/// The formats that swscale calls deprecated differ from others only in their range, and it reads them in another way.
static enum AVPixelFormat plain_format(const AVFrame *frame, bool *is_full) {
    *is_full = frame->color_range == AVCOL_RANGE_JPEG;
    switch (frame->format) {
    case AV_PIX_FMT_YUVJ420P: *is_full = true; return AV_PIX_FMT_YUV420P;
    case AV_PIX_FMT_YUVJ422P: *is_full = true; return AV_PIX_FMT_YUV422P;
    case AV_PIX_FMT_YUVJ440P: *is_full = true; return AV_PIX_FMT_YUV440P;
    case AV_PIX_FMT_YUVJ444P: *is_full = true; return AV_PIX_FMT_YUV444P;
    default: return frame->format;
    }
}

enum webimage_video_problem webimage_video_convert(
    webimage_video *video, int width, int height, bool is_deep, void *pixels, ptrdiff_t bytes_per_row, char *message,
    size_t message_length) {
    const AVFrame *frame = video->frame;
    bool is_full = false;
    enum AVPixelFormat format = plain_format(frame, &is_full);
    if (!sws_isSupportedInput(format)) {
        webimage_video_report(message, message_length, "its pixel format is not supported");
        return webimage_video_unsupported;
    }
    sws_freeContext(video->scaler);
    video->scaler = sws_getContext(
        frame->width, frame->height, format, width, height, is_deep ? AV_PIX_FMT_RGB48 : AV_PIX_FMT_RGB24,
        SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP, NULL, NULL, NULL);
    if (video->scaler == NULL) return webimage_video_no_memory;
    sws_setColorspaceDetails(
        video->scaler, sws_getCoefficients(matrix(frame)), is_full, sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16, 1 << 16);
    uint8_t *const rows[] = {pixels, NULL, NULL, NULL};
    const int strides[] = {(int)bytes_per_row, 0, 0, 0};
    int result = sws_scale(video->scaler, (const uint8_t *const *)frame->data, frame->linesize, 0, frame->height, rows, strides);
    if (result == height) return webimage_video_none;
    return webimage_video_problem_of(result < 0 ? result : AVERROR_INVALIDDATA, message, message_length);
}
