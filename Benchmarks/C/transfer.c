#include "transfer.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    CURL *easy;
    size_t index;
    Blob body;
    size_t capacity;
} Slot;

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    Slot *slot = context;
    count *= size;
    if (slot->body.count + count > slot->capacity) {
        curl_off_t length = -1;
        curl_easy_getinfo(slot->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        size_t wanted = slot->capacity * 2;
        if (slot->capacity == 0 && length > 0) wanted = (size_t)length;
        if (wanted < slot->body.count + count) wanted = slot->body.count + count;
        slot->body.bytes = realloc(slot->body.bytes, wanted);
        if (!slot->body.bytes) die("no memory");
        slot->capacity = wanted;
    }
    memcpy(slot->body.bytes + slot->body.count, bytes, count);
    slot->body.count += count;
    return count;
}

static void begin(CURLM *multi, Slot *slot, const char *url, size_t index) {
    slot->index = index;
    slot->body = (Blob){0};
    slot->capacity = 0;
    curl_easy_setopt(slot->easy, CURLOPT_URL, url);
    curl_multi_add_handle(multi, slot->easy);
}

static void end(CURLMsg *message, Slot *slot, char **urls) {
    long status = 0;
    curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
    if (message->data.result != CURLE_OK || status != 200)
        die("%s: %s, status %ld", urls[slot->index], curl_easy_strerror(message->data.result), status);
}

void download_all(char **urls, size_t count, int at_once, BodyHandler handler, int (*may_start)(void *), void *context) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)at_once);
    Slot *slots = need((size_t)at_once * sizeof *slots);
    Slot **idle = need((size_t)at_once * sizeof *idle);
    int idle_count = 0;
    for (int i = 0; i < at_once; i++) {
        CURL *easy = slots[i].easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &slots[i]);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, &slots[i]);
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L * 1024);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        idle[idle_count++] = &slots[i];
    }
    size_t started = 0, finished = 0;
    while (finished < count) {
        int held = 0;
        while (idle_count > 0 && started < count) {
            if (may_start && !may_start(context)) {
                held = 1;
                break;
            }
            begin(multi, idle[--idle_count], urls[started], started);
            started++;
        }
        int running = 0, left = 0;
        curl_multi_perform(multi, &running);
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
            if (message->msg != CURLMSG_DONE) continue;
            Slot *slot = NULL;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&slot);
            end(message, slot, urls);
            curl_multi_remove_handle(multi, slot->easy);
            handler(context, slot->index, slot->body);
            idle[idle_count++] = slot;
            finished++;
        }
        int can_start = idle_count > 0 && started < count && !held;
        if (finished < count && !can_start) curl_multi_poll(multi, NULL, 0, held ? 1 : 1000, NULL);
    }
    for (int i = 0; i < at_once; i++) curl_easy_cleanup(slots[i].easy);
    curl_multi_cleanup(multi);
    free(idle);
    free(slots);
}
