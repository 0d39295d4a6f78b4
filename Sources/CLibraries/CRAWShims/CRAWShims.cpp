#include "CRAWShims.h"

#include <climits>
#include <cstring>
#include <dlfcn.h>
#include <libraw/libraw.h>
#include <time.h>

#include <new>

struct webimage_raw {
    libraw_data_t *data;
    const void *bytes;
    size_t count;
    uint64_t deadline;
    bool is_damaged;
    libraw_processed_image_t *developed;
};

namespace {

/// No handlers for memory and for damaged data: LibRaw 0.20's print.
const unsigned int silent = 1 | 1 << 1;

/// LibRaw uses OpenMP, whose threads a sandbox forbids, and which do not count against the decode threads. Loops of the calling thread have one
/// thread until this is destroyed; then their number is again what the program has set.
class OneThread {
public:
    OneThread() {
        // LibRaw may be loaded by its first call, and loads OpenMP.
        libraw_strerror(LIBRAW_SUCCESS);
        if (functions().get == nullptr || functions().set == nullptr) return;
        former = functions().get();
        functions().set(1);
    }
    ~OneThread() {
        if (former != 0) functions().set(former);
    }
    OneThread(const OneThread &) = delete;
    OneThread &operator=(const OneThread &) = delete;

private:
    struct Functions {
        int (*get)(void);
        void (*set)(int);
    };

    /// Null if LibRaw does not use OpenMP.
    static const Functions &functions() {
        static const Functions functions = [] {
            void *library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
            if (library == nullptr) return Functions{nullptr, nullptr};
            return Functions{reinterpret_cast<int (*)(void)>(dlsym(library, "omp_get_max_threads")),
                             reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"))};
        }();
        return functions;
    }

    int former = 0;
};

/// The type of the offset differs between versions.
template <typename Offset>
void note_damage(void *context, const char *, Offset) {
    static_cast<webimage_raw *>(context)->is_damaged = true;
}

/// Cancels when the deadline has passed.
int check_time(void *context, enum LibRaw_progress, int, int) {
    uint64_t deadline = static_cast<webimage_raw *>(context)->deadline;
    if (deadline == 0) return 0;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec) >= deadline;
}

webimage_raw_status status_of(int error) {
    switch (error) {
    case LIBRAW_SUCCESS: return webimage_raw_ok;
    case LIBRAW_FILE_UNSUPPORTED: return webimage_raw_unsupported;
    case LIBRAW_UNSUFFICIENT_MEMORY: return webimage_raw_no_memory;
    case LIBRAW_TOO_BIG: return webimage_raw_too_big;
    case LIBRAW_CANCELLED_BY_CALLBACK: return webimage_raw_too_late;
    default: return webimage_raw_damaged;
    }
}

/// Calls LibRaw and converts its exceptions to a status, except those that it throws in parallel loops, which end the process.
template <typename Body>
webimage_raw_status guarded(const char **message, Body body) {
    OneThread one_thread;
    try {
        int error = body();
        *message = libraw_strerror(error);
        return status_of(error);
    } catch (const std::bad_alloc &) {
        *message = "out of memory";
        return webimage_raw_no_memory;
    } catch (...) {
        *message = "LibRaw failed";
        return webimage_raw_damaged;
    }
}

void release(webimage_raw *raw) {
    if (raw->developed != nullptr) libraw_dcraw_clear_mem(raw->developed);
    if (raw->data != nullptr) libraw_close(raw->data);
    raw->developed = nullptr;
    raw->data = nullptr;
}

/// Opens the file again: LibRaw's state cannot be used for more than one purpose.
int reopen(webimage_raw *raw) {
    release(raw);
    raw->is_damaged = false;
    raw->data = libraw_init(silent);
    if (raw->data == nullptr) return LIBRAW_UNSUFFICIENT_MEMORY;
    libraw_set_dataerror_handler(raw->data, note_damage, raw);
    libraw_set_progress_handler(raw->data, check_time, raw);
    // The caller applies the orientation.
    raw->data->params.user_flip = 0;
    return libraw_open_buffer(raw->data, const_cast<void *>(raw->bytes), raw->count);
}

/// Returns the EXIF number of LibRaw's orientation, whose bits mirror columns (1) and rows (2) and swap both (4).
uint32_t exif_orientation(int flip) {
    static const uint32_t numbers[] = {1, 2, 4, 3, 5, 8, 6, 7};
    return numbers[flip & 7];
}

uint32_t bits_of(unsigned maximum) {
    uint32_t bits = 8;
    while (bits < 16 && maximum >> bits != 0) bits++;
    return bits;
}

/// What LibRaw has read from the header and does not return by its functions.
const libraw_internal_data_t &internal_data(const webimage_raw *raw) {
    return *static_cast<LibRaw *>(raw->data->parent_class)->get_internal_data_pointer();
}

bool is_float(const webimage_raw *raw) {
    return raw->data->idata.dng_version != 0 && internal_data(raw).unpacker_data.tiff_sampleformat == 3;
}

/// Indicates whether LibRaw reads floats of this layout. 0.20 reads others beyond its buffers, or as whole numbers.
bool can_read_floats(const webimage_raw *raw) {
    const unpacker_data_t &data = internal_data(raw).unpacker_data;
    if (data.tiff_bps != 16 && data.tiff_bps != 24 && data.tiff_bps != 32) return false;
#if LIBRAW_COMPILE_CHECK_VERSION_NOTLESS(0, 21)
    return true;
#else
    return data.tiff_compress == 8 && data.tile_width < INT_MAX && data.tile_length < INT_MAX;
#endif
}

/// Indicates whether the slices of a CR2 have a width, and end within the eight more rows that LibRaw allocates. LibRaw 0.20 divides by it.
bool has_usable_slices(const webimage_raw *raw) {
    const ushort *slice = internal_data(raw).unpacker_data.cr2_slice;
    if (slice[0] == 0) return true;
    const libraw_image_sizes_t &sizes = raw->data->sizes;
    uint64_t end = uint64_t(slice[0]) * slice[1] + slice[2];
    return slice[1] != 0 && slice[2] != 0 && end <= uint64_t(sizes.raw_width) * 8 &&
           uint64_t(slice[1]) * sizes.raw_height <= INT_MAX;
}

int read_info(webimage_raw *raw, webimage_raw_info *info) {
    int error = reopen(raw);
    if (error != LIBRAW_SUCCESS) return error;
    const libraw_image_sizes_t &sizes = raw->data->sizes;
    info->orientation = exif_orientation(sizes.flip);
    info->raw_width = sizes.raw_width;
    info->raw_height = sizes.raw_height;
    const unpacker_data_t &data = internal_data(raw).unpacker_data;
    info->is_mosaic = raw->data->idata.filters != 0;
    info->colors = info->is_mosaic ? 1 : uint32_t(raw->data->idata.colors);
    info->is_float = is_float(raw);
    info->samples = data.tiff_samples;
    info->tile_width = data.tile_width < INT_MAX ? data.tile_width : 0;
    info->tile_height = data.tile_length < INT_MAX ? data.tile_length : 0;
    info->bits = bits_of(raw->data->color.maximum);
    // LibRaw learns the depth of CR3 only when it decodes; until then it is that of the thumbnail.
    bool is_cr3 = raw->count > 12 && memcmp(static_cast<const char *>(raw->bytes) + 4, "ftypcrx ", 8) == 0;
    if (is_cr3 && info->bits < 14) info->bits = 14;
    INT64 offset = internal_data(raw).internal_data.toffset;
    info->preview_offset = offset > 0 ? uint64_t(offset) : 0;
    info->preview_bytes = raw->data->thumbnail.tlength;
    error = libraw_adjust_sizes_info_only(raw->data);
    info->width = sizes.iwidth;
    info->height = sizes.iheight;
    return error;
}

void set_memory_limit(libraw_data_t *data, size_t bytes) {
    size_t megabytes = bytes >> 20;
    unsigned limit = megabytes < 1 ? 1 : megabytes > 1 << 20 ? 1 << 20 : unsigned(megabytes);
#if LIBRAW_COMPILE_CHECK_VERSION_NOTLESS(0, 21)
    data->rawparams.max_raw_memory_mb = limit;
#else
    data->params.max_raw_memory_mb = limit;
#endif
}

int develop(webimage_raw *raw, bool is_half, uint32_t bits, size_t memory_limit, webimage_raw_pixels *pixels) {
    int error = reopen(raw);
    if (error != LIBRAW_SUCCESS) return error;
    libraw_output_params_t &params = raw->data->params;
    params.half_size = is_half;
    params.use_camera_wb = 1;
    params.output_color = 1;
    params.output_bps = int(bits);
    // The curve of sRGB; LibRaw's default is that of Rec. 709.
    params.gamm[0] = 1 / 2.4;
    params.gamm[1] = 12.92;
    if (is_float(raw) && !can_read_floats(raw)) return LIBRAW_FILE_UNSUPPORTED;
    if (!has_usable_slices(raw)) return LIBRAW_DATA_ERROR;
    set_memory_limit(raw->data, memory_limit);
    error = libraw_unpack(raw->data);
    if (error != LIBRAW_SUCCESS) return error;
    if (raw->is_damaged) return LIBRAW_DATA_ERROR;
    error = libraw_dcraw_process(raw->data);
    if (error != LIBRAW_SUCCESS) return error;
    raw->developed = libraw_dcraw_make_mem_image(raw->data, &error);
    if (raw->developed == nullptr) return error != LIBRAW_SUCCESS ? error : LIBRAW_UNSUFFICIENT_MEMORY;
    // The sensor's data is as large as the image.
    libraw_close(raw->data);
    raw->data = nullptr;
    const libraw_processed_image_t &image = *raw->developed;
    *pixels = {image.data, image.data_size, image.width, image.height, image.colors, image.bits};
    bool is_complete = (image.colors == 1 || image.colors == 3) && image.bits == bits &&
                       uint64_t(image.width) * image.height * image.colors * (bits / 8) <= image.data_size;
    return is_complete ? LIBRAW_SUCCESS : LIBRAW_DATA_ERROR;
}

}  // namespace

webimage_raw *webimage_raw_open(
    const void *bytes, size_t count, uint64_t deadline, webimage_raw_info *info, webimage_raw_status *status,
    const char **message) {
    *message = "out of memory";
    *status = webimage_raw_no_memory;
    webimage_raw *raw = new (std::nothrow) webimage_raw{nullptr, bytes, count, deadline, false, nullptr};
    if (raw == nullptr) return nullptr;
    *status = guarded(message, [&] { return read_info(raw, info); });
    if (*status == webimage_raw_ok) return raw;
    webimage_raw_close(raw);
    return nullptr;
}

void webimage_raw_close(webimage_raw *raw) {
    release(raw);
    delete raw;
}

webimage_raw_status webimage_raw_develop(
    webimage_raw *raw, bool is_half, uint32_t bits, size_t memory_limit, uint64_t deadline, webimage_raw_pixels *pixels,
    const char **message) {
    raw->deadline = deadline;
    return guarded(message, [&] { return develop(raw, is_half, bits, memory_limit, pixels); });
}
