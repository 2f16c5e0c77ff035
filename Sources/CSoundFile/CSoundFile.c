#include "CSoundFile.h"
#include <sndfile.h>
#include <stdio.h>
#include <string.h>

csoundfile *csoundfile_open(const char *path, csoundfile_info *info, char *reason, size_t size) {
    SF_INFO found;
    memset(&found, 0, sizeof found);
    SNDFILE *file = sf_open(path, SFM_READ, &found);
    if (!file) {
        snprintf(reason, size, "%s", sf_strerror(NULL));
        return NULL;
    }
    info->frames = found.frames;
    info->rate = found.samplerate;
    info->channels = found.channels;
    return (csoundfile *)file;
}

int64_t csoundfile_read(csoundfile *file, float *samples, int64_t frames, char *reason, size_t size) {
    int64_t count = sf_readf_float((SNDFILE *)file, samples, frames);
    if (count <= 0 && sf_error((SNDFILE *)file) != SF_ERR_NO_ERROR) {
        snprintf(reason, size, "%s", sf_strerror((SNDFILE *)file));
        return -1;
    }
    return count < 0 ? 0 : count;
}

void csoundfile_close(csoundfile *file) { sf_close((SNDFILE *)file); }
