#pragma once
#include <stddef.h>
#include <stdint.h>

/// A sound file that is being read.
typedef struct csoundfile csoundfile;

/// The header of a file. `frames` is a claim: streams may hold more or less.
typedef struct {
    int64_t frames;
    int32_t rate;
    int32_t channels;
} csoundfile_info;

/// Opens the file at `path`. On failure gives NULL and a reason of at most `size` bytes, terminated.
csoundfile *csoundfile_open(const char *path, csoundfile_info *info, char *reason, size_t size);

/// Reads up to `frames` frames, channel beside channel, in full scale -1…1.
/// Gives their number, 0 at the end, or -1 with a reason when the bytes are broken.
int64_t csoundfile_read(csoundfile *file, float *samples, int64_t frames, char *reason, size_t size);

void csoundfile_close(csoundfile *file);
