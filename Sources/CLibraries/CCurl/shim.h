// libcurl, and what of it Swift cannot call: variadic functions, each wrapped for one type of argument, and macros.
#pragma once
#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

static inline CURLcode webimage_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode webimage_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode webimage_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode webimage_curl_set_bytes(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode webimage_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode webimage_curl_set_write(
    CURL *easy, CURLoption option, size_t (*function)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(easy, option, function);
}

static inline CURLcode webimage_curl_set_progress(
    CURL *easy, int (*function)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t)) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, function);
}

static inline CURLcode webimage_curl_set_debug(
    CURL *easy, int (*function)(CURL *, curl_infotype, char *, size_t, void *)) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, function);
}

static inline CURLcode webimage_curl_set_before_request(
    CURL *easy, int (*function)(void *, char *, char *, int, int)) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}

/// libcurl's own sockets are inherited by programs that this one starts.
static inline curl_socket_t webimage_curl_open_socket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static inline CURLcode webimage_curl_set_open_socket(
    CURL *easy, curl_socket_t (*function)(void *, curlsocktype, struct curl_sockaddr *)) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

/// The 4 or 16 bytes of an address in network order, and its port; 0 for one that is not of the internet.
static inline int webimage_curl_address(const struct curl_sockaddr *address, unsigned char *bytes, int *port) {
    const void *place = &address->addr;
    if (address->family == AF_INET && address->addrlen >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in v4;
        memcpy(&v4, place, sizeof v4);
        memcpy(bytes, &v4.sin_addr, 4);
        *port = ntohs(v4.sin_port);
        return 4;
    }
    if (address->family == AF_INET6 && address->addrlen >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 v6;
        memcpy(&v6, place, sizeof v6);
        memcpy(bytes, &v6.sin6_addr, 16);
        *port = ntohs(v6.sin6_port);
        return 16;
    }
    return 0;
}

static inline long webimage_curl_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline curl_off_t webimage_curl_get_offset(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline const char *webimage_curl_get_string(CURL *easy, CURLINFO info) {
    char *value = NULL;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

static inline void *webimage_curl_get_private(CURL *easy) {
    char *value = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? (void *)value : NULL;
}

static inline CURLMcode webimage_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLSHcode webimage_curl_share_cookies(CURLSH *share) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
}

/// The next finished transfer: 1 with its handle and result, 0 when there is none.
static inline int webimage_curl_next_finished(CURLM *multi, CURL **easy, CURLcode *result) {
    int waiting = 0;
    for (CURLMsg *message = curl_multi_info_read(multi, &waiting); message;
         message = curl_multi_info_read(multi, &waiting)) {
        if (message->msg != CURLMSG_DONE) continue;
        *easy = message->easy_handle;
        *result = message->data.result;
        return 1;
    }
    return 0;
}

static const long webimage_curl_auth_basic_and_digest = (long)(CURLAUTH_BASIC | CURLAUTH_DIGEST);
static const long webimage_curl_http_2_over_tls = CURL_HTTP_VERSION_2TLS;
static const long webimage_curl_tls_1_2 = CURL_SSLVERSION_TLSv1_2;
