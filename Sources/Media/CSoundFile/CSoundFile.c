#include "CSoundFile.h"

#include <CSharedLibrary.h>
#include <sndfile.h>
#include <stdio.h>
#include <string.h>

#define FUNCTIONS(X) \
    X(close) X(error) X(open) X(readf_float) X(strerror)

#define CSL_FIELD(name) __typeof__(&sf_##name) name;
#define CSL_NAME(name) "sf_" #name,
CSL_LIBRARY(libsndfile, "libsndfile.so.1", "libsndfile1", FUNCTIONS, 0)

csoundfile *csoundfile_open(const char *path, csoundfile_info *info, char *reason, size_t size) {
    const char *problem = libsndfile_problem();
    if (problem) {
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
