/* Makes the calls on an index file fail, as a full, failing or read-only disk does: see test_faults.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char ours[1024];
static int left = -1;

static int fails(void) {
    if (left < 0) {
        const char *after = getenv("FAULT_AFTER");
        left = after ? atoi(after) : 0;
    }
    if (left > 0) {
        left--;
        return 0;
    }
    errno = atoi(getenv("FAULT_ERRNO"));
    return 1;
}

static int on(const char *call) {
    const char *wanted = getenv("FAULT_CALL");
    return wanted && strcmp(wanted, call) == 0;
}

static int watched(int fd) { return fd >= 0 && fd < (int)sizeof ours && ours[fd]; }

static int opened(const char *path, int flags, int fd) {
    if (fd >= 0 && fd < (int)sizeof ours)
        ours[fd] = strstr(path, ".duckdb") != NULL && (flags & O_ACCMODE) != O_RDONLY;
    return fd;
}

static int refused(const char *path, int flags) {
    return on("open") && strstr(path, ".duckdb") && (flags & O_ACCMODE) != O_RDONLY && fails();
}

#define OPEN(name, ...)                                                                   \
    if (refused(path, flags)) return -1;                                                  \
    va_list rest;                                                                         \
    va_start(rest, flags);                                                                \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;             \
    va_end(rest);                                                                         \
    return opened(path, flags, ((int (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

int open(const char *path, int flags, ...) { OPEN(open, const char *, int, ...)(path, flags, mode)); }
int open64(const char *path, int flags, ...) { OPEN(open64, const char *, int, ...)(path, flags, mode)); }
int openat(int at, const char *path, int flags, ...) {
    OPEN(openat, int, const char *, int, ...)(at, path, flags, mode));
}
int openat64(int at, const char *path, int flags, ...) {
    OPEN(openat64, int, const char *, int, ...)(at, path, flags, mode));
}

#define THROUGH(type, name, call, ...)                                                     \
    if (watched(fd) && on(call) && fails()) return -1;                                     \
    return ((type (*)(int, ##__VA_ARGS__))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) {
    THROUGH(ssize_t, write, "write", const void *, size_t)(fd, data, size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    THROUGH(ssize_t, pwrite, "write", const void *, size_t, off_t)(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    THROUGH(ssize_t, pwrite64, "write", const void *, size_t, off64_t)(fd, data, size, at);
}
int fsync(int fd) { THROUGH(int, fsync, "sync")(fd); }
int fdatasync(int fd) { THROUGH(int, fdatasync, "sync")(fd); }
