#define _GNU_SOURCE
#include "CIsolation.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int webimage_message_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : -errno;
}

/// Sleeps one millisecond; returns true.
static bool pause_shortly(void) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return true;
}

int webimage_message_send(int socket, const void *bytes, size_t count, int descriptor, bool waits) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr alignment;
    } control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT));
    while (sent < 0 && (errno == EINTR || (errno == ETOOMANYREFS && waits && pause_shortly())));
    return sent < 0 ? -errno : 0;
}

/// Returns the first descriptor and closes the rest.
static int descriptor_of(struct msghdr *message) {
    int kept = -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < count; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + index * sizeof(int), sizeof(int));
            if (kept < 0) kept = descriptor;
            else close(descriptor);
        }
    }
    return kept;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/// Returns 1 if there is something to receive; else the negative error number.
static int wait_for(int socket, int milliseconds) {
    int64_t end = now() + milliseconds;
    struct pollfd file = {.fd = socket, .events = POLLIN};
    while (true) {
        int count = poll(&file, 1, milliseconds);
        if (count > 0) return 1;
        if (count == 0) return -ETIMEDOUT;
        if (errno != EINTR) return -errno;
        if (milliseconds >= 0) milliseconds = end > now() ? (int)(end - now()) : 0;
    }
}

ssize_t webimage_message_receive(int socket, void *buffer, size_t capacity, int milliseconds, int *descriptor) {
    *descriptor = -1;
    int state = wait_for(socket, milliseconds);
    if (state < 0) return state;
    struct iovec part = {.iov_base = buffer, .iov_len = capacity};
    union {
        char bytes[CMSG_SPACE(4 * sizeof(int))];
        struct cmsghdr alignment;
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};
    ssize_t count;
    do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    // A reset connection counts as ended.
    if (count < 0) return errno == ECONNRESET ? 0 : -errno;
    *descriptor = descriptor_of(&message);
    // This process had no descriptor left for the received one.
    if ((message.msg_flags & MSG_CTRUNC) && *descriptor < 0) return -EMFILE;
    if (count > 0 && !(message.msg_flags & MSG_TRUNC)) return count;
    // The descriptor of an invalid message is not used.
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
    return count == 0 ? 0 : -EMSGSIZE;
}
