#include "CSoundFile.h"

#include <CSharedLibrary.h>
#include <pthread.h>
#include <sndfile.h>
#include <stdio.h>
#include <string.h>

#define FUNCTIONS(X) \
    X(close) X(error) X(open) X(readf_float) X(strerror)

static struct {
#define X(name) __typeof__(&sf_##name) name;
    FUNCTIONS(X)
#undef X
} libsndfile;

static const char *const names[] = {
#define X(name) "sf_" #name,
    FUNCTIONS(X)
#undef X
};

static pthread_once_t opened = PTHREAD_ONCE_INIT;
static char problem[CSL_MESSAGE];  // why the library cannot be used; empty when it can

static void open_library(void) {
    csl_open("libsndfile.so.1", "libsndfile1", names, sizeof names / sizeof *names, &libsndfile, problem);
}

csoundfile *csoundfile_open(const char *path, csoundfile_info *info, char *reason, size_t size) {
    pthread_once(&opened, open_library);
    if (problem[0]) {
        snprintf(reason, size, "%s", problem);
        return NULL;
    }
    SF_INFO found;
    memset(&found, 0, sizeof found);
    SNDFILE *file = libsndfile.open(path, SFM_READ, &found);
    if (!file) {
        snprintf(reason, size, "%s", libsndfile.strerror(NULL));
        return NULL;
    }
    info->frames = found.frames;
    info->rate = found.samplerate;
    info->channels = found.channels;
    return (csoundfile *)file;
}

int64_t csoundfile_read(csoundfile *file, float *samples, int64_t frames, char *reason, size_t size) {
    int64_t count = libsndfile.readf_float((SNDFILE *)file, samples, frames);
    if (count <= 0 && libsndfile.error((SNDFILE *)file) != SF_ERR_NO_ERROR) {
        snprintf(reason, size, "%s", libsndfile.strerror((SNDFILE *)file));
        return -1;
    }
    return count < 0 ? 0 : count;
}

void csoundfile_close(csoundfile *file) { libsndfile.close((SNDFILE *)file); }
