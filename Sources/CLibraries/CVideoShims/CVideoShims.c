#include "video.h"

#include <libavutil/common.h>
#include <libavutil/display.h>
#include <libavutil/log.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void webimage_video_report(char *message, size_t length, const char *text) {
    if (length == 0) return;
    strncpy(message, text, length - 1);
    message[length - 1] = 0;
}

enum webimage_video_problem webimage_video_problem_of(int error, char *message, size_t length) {
    char text[AV_ERROR_MAX_STRING_SIZE] = {0};
    av_strerror(error, text, sizeof(text));
    webimage_video_report(message, length, text);
    if (error != AVERROR(ENOMEM)) return webimage_video_damaged;
    // The libraries also report this error for impossible sizes in a file.
    void *volatile block = malloc(16 << 20);
    bool has_memory = block != NULL;
    free(block);
    return has_memory ? webimage_video_damaged : webimage_video_no_memory;
}

bool webimage_video_is_too_large(const webimage_video *video, int width, int height, char *message, size_t length) {
    int64_t pixels = (int64_t)width * height;
    if (pixels <= video->source.most_pixels) return false;
    if (length > 0) snprintf(message, length, "%" PRId64, pixels);
    return true;
}

// MARK: Reading

enum { buffer_size = 32 << 10 };

static int read_bytes(void *context, uint8_t *buffer, int count) {
    webimage_video *video = context;
    if (video->has_read_error) return AVERROR(EIO);
    int64_t left = video->source.byte_count - video->offset;
    if (left <= 0) return AVERROR_EOF;
    ptrdiff_t done = video->source.read(video->source.context, video->offset, buffer, (size_t)(count < left ? count : left));
    if (done < 0) {
        video->has_read_error = true;
        return AVERROR(EIO);
    }
    if (done == 0) return AVERROR_EOF;
    video->offset += done;
    return (int)done;
}

static int64_t seek_bytes(void *context, int64_t offset, int whence) {
    webimage_video *video = context;
    int64_t size = video->source.byte_count;
    switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE: return size;
    case SEEK_SET: break;
    case SEEK_CUR: offset = av_sat_add64(offset, video->offset); break;
    case SEEK_END: offset = av_sat_add64(offset, size); break;
    default: return AVERROR(EINVAL);
    }
    if (offset < 0) return AVERROR(EINVAL);
    return video->offset = offset;
}

// MARK: Opening

/// Codecs of videos that people have. Each other one would be more code that hostile files reach.
static const enum AVCodecID codecs[] = {
    AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_VP8,    AV_CODEC_ID_VP9,        AV_CODEC_ID_AV1,        AV_CODEC_ID_MPEG4,
    AV_CODEC_ID_H263, AV_CODEC_ID_MJPEG, AV_CODEC_ID_PRORES, AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_DNXHD,
};

static bool is_allowed(enum AVCodecID codec) {
    for (size_t index = 0; index < sizeof(codecs) / sizeof(*codecs); index++)
        if (codecs[index] == codec) return true;
    return false;
}

/// Returns the first video that is not a cover; NULL without one.
static AVStream *find_stream(AVFormatContext *format) {
    AVStream *found = NULL;
    for (unsigned index = 0; index < format->nb_streams; index++) {
        AVStream *stream = format->streams[index];
        bool is_video = stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !(stream->disposition & AV_DISPOSITION_ATTACHED_PIC);
        if (is_video && found == NULL) found = stream;
        else stream->discard = AVDISCARD_ALL;
    }
    return found;
}

static int open_container(webimage_video *video) {
    uint8_t *buffer = av_malloc(buffer_size);
    if (buffer == NULL) return AVERROR(ENOMEM);
    video->io = avio_alloc_context(buffer, buffer_size, 0, video, read_bytes, NULL, seek_bytes);
    if (video->io == NULL) {
        av_free(buffer);
        return AVERROR(ENOMEM);
    }
    video->format = avformat_alloc_context();
    if (video->format == NULL) return AVERROR(ENOMEM);
    video->format->pb = video->io;
    // Files that a video names are never opened; other protocols than the one above do not exist.
    video->format->flags |= AVFMT_FLAG_CUSTOM_IO;
    video->format->protocol_whitelist = av_strdup("none");
    const char *name = video->source.container == webimage_video_matroska ? "matroska" : "mov";
    // On failure it frees the format context.
    return avformat_open_input(&video->format, NULL, av_find_input_format(name), NULL);
}

static int open_decoder(webimage_video *video) {
    const AVCodecParameters *parameters = video->stream->codecpar;
    const AVCodec *codec = avcodec_find_decoder(parameters->codec_id);
    if (codec == NULL) return AVERROR_DECODER_NOT_FOUND;
    video->decoder = avcodec_alloc_context3(codec);
    if (video->decoder == NULL) return AVERROR(ENOMEM);
    int result = avcodec_parameters_to_context(video->decoder, parameters);
    if (result < 0) return result;
    video->decoder->thread_count = 1;
    video->decoder->max_pixels = video->source.most_pixels;
    video->decoder->pkt_timebase = video->stream->time_base;
    return avcodec_open2(video->decoder, codec, NULL);
}

webimage_video *webimage_video_open(
    const struct webimage_video_source *source, enum webimage_video_problem *problem, char *message, size_t message_length) {
    av_log_set_level(AV_LOG_QUIET);
    *problem = webimage_video_no_memory;
    webimage_video *video = av_mallocz(sizeof(*video));
    if (video == NULL) return NULL;
    video->source = *source;
    int result = open_container(video);
    if (result >= 0) {
        video->stream = find_stream(video->format);
        if (video->stream == NULL || !is_allowed(video->stream->codecpar->codec_id)) {
            const char *name = video->stream == NULL ? "it contains no video" : avcodec_get_name(video->stream->codecpar->codec_id);
            webimage_video_report(message, message_length, name);
            *problem = webimage_video_unsupported;
            webimage_video_close(video);
            return NULL;
        }
        result = open_decoder(video);
    }
    video->packet = av_packet_alloc();
    video->frame = av_frame_alloc();
    video->next = av_frame_alloc();
    if (result >= 0 && (video->packet == NULL || video->frame == NULL || video->next == NULL)) result = AVERROR(ENOMEM);
    // Some containers leave the size to the frames.
    if (result >= 0 && video->decoder->width <= 0) webimage_video_probe(video);
    if (result >= 0) return video;
    *problem = webimage_video_problem_of(result, message, message_length);
    if (result == AVERROR_DECODER_NOT_FOUND) *problem = webimage_video_unsupported;
    if (video->stream != NULL) {
        const AVCodecParameters *parameters = video->stream->codecpar;
        if (webimage_video_is_too_large(video, parameters->width, parameters->height, message, message_length))
            *problem = webimage_video_too_large;
    }
    webimage_video_close(video);
    return NULL;
}

void webimage_video_close(webimage_video *video) {
    sws_freeContext(video->scaler);
    av_frame_free(&video->next);
    av_frame_free(&video->frame);
    av_packet_free(&video->packet);
    avcodec_free_context(&video->decoder);
    avformat_close_input(&video->format);
    if (video->io != NULL) av_freep(&video->io->buffer);
    avio_context_free(&video->io);
    av_free(video);
}

// MARK: Properties

static const int32_t *display_matrix(const AVStream *stream) {
#if LIBAVCODEC_VERSION_MAJOR >= 61
    const AVPacketSideData *data = av_packet_side_data_get(
        stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    return data != NULL && data->size >= 9 * sizeof(int32_t) ? (const int32_t *)data->data : NULL;
#elif LIBAVFORMAT_VERSION_MAJOR >= 59
    size_t size = 0;
    const uint8_t *data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return data != NULL && size >= 9 * sizeof(int32_t) ? (const int32_t *)data : NULL;
#else
    int size = 0;
    const uint8_t *data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return data != NULL && size >= (int)(9 * sizeof(int32_t)) ? (const int32_t *)data : NULL;
#endif
}

/// Returns the EXIF orientation of a matrix; that of the nearest quarter turn for other angles.
static int orientation(const int32_t *matrix) {
    if (matrix == NULL) return 1;
    // A stored point (x, y) is shown at (a x + c y, b x + d y).
    double a = matrix[0], b = matrix[1], c = matrix[3], d = matrix[4];
    bool is_mirrored = a * d - b * c < 0;
    double turn = atan2(b, a);
    int quarters = (int)lround(turn / M_PI_2) & 3;
    static const int upright[] = {1, 6, 3, 8};
    // Mirrored: x is shown along the turn, and y to its left.
    static const int mirrored[] = {4, 5, 2, 7};
    return (is_mirrored ? mirrored : upright)[quarters];
}

static int known_bits(int format, int otherwise) {
    const AVPixFmtDescriptor *description = av_pix_fmt_desc_get(format);
    return description != NULL ? description->comp[0].depth : otherwise;
}

struct webimage_video_info webimage_video_info(const webimage_video *video) {
    const AVCodecContext *decoder = video->decoder;
    const AVFrame *frame = video->has_frame ? video->frame : NULL;
    struct webimage_video_info info = {0};
    info.width = frame ? frame->width : decoder->width;
    info.height = frame ? frame->height : decoder->height;
    // The container's aspect wins, as in FFmpeg.
    AVRational aspect = av_guess_sample_aspect_ratio(video->format, video->stream, (AVFrame *)frame);
    if (aspect.num <= 0 || aspect.den <= 0) aspect = decoder->sample_aspect_ratio;
    info.pixel_aspect = aspect.num > 0 && aspect.den > 0 ? av_q2d(aspect) : 1;
    info.orientation = orientation(display_matrix(video->stream));
    int64_t duration = video->stream->duration;
    if (duration != AV_NOPTS_VALUE && duration > 0) info.duration = (double)duration * av_q2d(video->stream->time_base);
    else if (video->format->duration > 0) info.duration = (double)video->format->duration / AV_TIME_BASE;
    int coded = decoder->bits_per_raw_sample;
    info.bits_per_component = known_bits(frame ? frame->format : decoder->pix_fmt, coded > 0 && coded <= 16 ? coded : 8);
    info.primaries = frame && frame->color_primaries != AVCOL_PRI_UNSPECIFIED ? frame->color_primaries : decoder->color_primaries;
    info.transfer = frame && frame->color_trc != AVCOL_TRC_UNSPECIFIED ? frame->color_trc : decoder->color_trc;
    info.is_damaged = frame && (frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT));
    return info;
}
