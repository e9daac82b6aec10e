/* Kills the process before its nth call on a file of KILL_IN, or makes that call fail: see test_kept_files.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int calls = 0;

static int inside(const char *path) {
    const char *directory = getenv("KILL_IN");
    return directory && path && strncmp(path, directory, strlen(directory)) == 0;
}

static int inside_fd(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return inside(path);
}

static int reached(const char *call) {
    const char *trace = getenv("KILL_TRACE"), *at = getenv("KILL_AT"), *fails = getenv("KILL_ERRNO");
    calls++;
    if (trace) {
        int fd = ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"))(trace, O_WRONLY | O_APPEND | O_CREAT, 0600);
        char line[64];
        int size = snprintf(line, sizeof line, "%s\n", call);
        if (((ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(fd, line, size) < 0) return 0;
        ((int (*)(int))dlsym(RTLD_NEXT, "close"))(fd);
    }
    if (!at || calls != atoi(at)) return 0;
    if (!fails) kill(getpid(), SIGKILL);
    errno = atoi(fails);
    return 1;
}

#define OPEN(name)                                                                                   \
    int name(const char *path, int flags, ...) {                                                     \
        va_list rest;                                                                                \
        va_start(rest, flags);                                                                       \
        mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;                    \
        va_end(rest);                                                                                \
        if (inside(path) && (flags & O_ACCMODE) != O_RDONLY && reached("open")) return -1;           \
        return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name))(path, flags, mode);        \
    }
OPEN(open)
OPEN(open64)

#define ON_FD(type, name, parameters, arguments)                                                     \
    type name parameters {                                                                           \
        if (inside_fd(fd) && reached(#name)) return -1;                                              \
        return ((type (*) parameters)dlsym(RTLD_NEXT, #name))arguments;                              \
    }
ON_FD(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
ON_FD(int, fsync, (int fd), (fd))
ON_FD(int, fchmod, (int fd, mode_t mode), (fd, mode))
ON_FD(int, ftruncate, (int fd, off_t size), (fd, size))
ON_FD(int, ftruncate64, (int fd, off64_t size), (fd, size))

#define ON_PATH(name, parameters, arguments)                                                         \
    int name parameters {                                                                            \
        if (inside(path) && reached(#name)) return -1;                                               \
        return ((int (*) parameters)dlsym(RTLD_NEXT, #name))arguments;                               \
    }
ON_PATH(rename, (const char *path, const char *other), (path, other))
ON_PATH(unlink, (const char *path), (path))
ON_PATH(chmod, (const char *path, mode_t mode), (path, mode))
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
