/*
 * Loaded into a browser (LD_PRELOAD): whenever it syncs a file below KEPT_FROM, the file is copied below KEPT_TO, where there is then
 * what a power failure would leave. If it syncs a folder, names that are gone are removed there, and new ones are added.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Creates the folders that contain the path. */
static void make_folders(char *path) {
  for (char *at = path + 1; *at; at++)
    if (*at == '/') {
      *at = 0;
      mkdir(path, 0700);
      *at = '/';
    }
}

static void copy_file(const char *path, char *copy) {
  int in = open(path, O_RDONLY);
  if (in < 0) return;
  make_folders(copy);
  char *unfinished;
  if (asprintf(&unfinished, "%s.%d.unfinished", copy, gettid()) < 0) abort();
  int out = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (out < 0) abort();
  /* Small, because threads of browsers have small stacks. */
  char part[8192];
  ssize_t bytes;
  while ((bytes = read(in, part, sizeof part)) > 0)
    if (write(out, part, bytes) != bytes) abort();
  close(in);
  close(out);
  rename(unfinished, copy);
  free(unfinished);
}

/* Calls `visit` with each name in a folder, as its path and as the path of its copy. */
static void each_name(const char *listed, const char *path, const char *copy,
                      void (*visit)(const char *, char *)) {
  DIR *folder = opendir(listed);
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    char *below, *copied;
    if (asprintf(&below, "%s/%s", path, entry->d_name) < 0) abort();
    if (asprintf(&copied, "%s/%s", copy, entry->d_name) < 0) abort();
    visit(below, copied);
    free(below);
    free(copied);
  }
  closedir(folder);
}

static void remove_gone(const char *path, char *copy) {
  if (access(path, F_OK)) remove(copy);
}

static void add_new(const char *path, char *copy) {
  struct stat found;
  if (!access(copy, F_OK) || stat(path, &found)) return;
  if (S_ISDIR(found.st_mode)) mkdir(copy, 0700);
  else if (S_ISREG(found.st_mode)) copy_file(path, copy);
}

static void keep(int file) {
  const char *from = getenv("KEPT_FROM"), *to = getenv("KEPT_TO");
  if (!from || !to) return;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  struct stat found;
  if (strncmp(path, from, strlen(from)) || fstat(file, &found)) return;
  char *copy;
  if (asprintf(&copy, "%s%s", to, path + strlen(from)) < 0) abort();
  if (S_ISREG(found.st_mode)) copy_file(path, copy);
  else if (S_ISDIR(found.st_mode)) {
    make_folders(copy);
    mkdir(copy, 0700);
    each_name(copy, path, copy, remove_gone);
    each_name(path, path, copy, add_new);
  }
  free(copy);
}

static int synced(const char *name, int file) {
  int (*original)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  int result = original(file);
  int error = errno;
  keep(file);
  errno = error;
  return result;
}

int fsync(int file) { return synced("fsync", file); }
int fdatasync(int file) { return synced("fdatasync", file); }
