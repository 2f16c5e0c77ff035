// segmentation FILE...: what CTextSegmentation answers about texts in many languages, as one hash (scripts/packaging/check-icu).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CTextSegmentation.h"

static const char *languages[] = {
    "", "en", "de", "fr", "es", "it", "pt", "nl", "sv", "fi", "el", "ru", "ro", "lt", "tr", "az", "ar", "he", "hi", "bo", "th",
    "lo", "km", "my", "zh-Hans", "zh-Hant", "ja", "ko", "en-US-u-ss-standard", "ja-u-lb-strict", "xx", "no tag!",
};
// Scripts, as ranges of code points; made texts change between them.
static const unsigned scripts[][2] = {
    {0x20, 0x7e}, {0xc0, 0x24f}, {0x370, 0x3ff}, {0x400, 0x4ff}, {0x530, 0x5ff}, {0x600, 0x6ff}, {0x900, 0x97f}, {0xe01, 0xe5b},
    {0xe81, 0xedf}, {0xf00, 0xfff}, {0x1000, 0x109f}, {0x1780, 0x17ff}, {0x1e00, 0x1fff}, {0x2000, 0x206f}, {0x3040, 0x30ff},
    {0x4e00, 0x9fff}, {0xac00, 0xd7a3}, {0x10000, 0x100ff}, {0x1f300, 0x1faff}, {0x20000, 0x2a6df},
};
enum { script_count = sizeof scripts / sizeof *scripts, made_texts = 3000, capacity = 1 << 20 };

static unsigned long long hash = 1469598103934665603u, state = 88172645463325252u;
static long texts, segments;

static void add(const void *bytes, size_t count) {  // FNV-1a
    for (size_t i = 0; i < count; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
}

static unsigned next_random(void) {  // xorshift
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 11);
}

static size_t append(char *text, unsigned scalar) {
    int extra = scalar < 0x80 ? 0 : scalar < 0x800 ? 1 : scalar < 0x10000 ? 2 : 3;
    static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
    text[0] = (char)(lead[extra] | scalar >> 6 * extra);
    for (int i = 1; i <= extra; i++) text[i] = (char)(0x80 | (scalar >> 6 * (extra - i) & 63));
    return (size_t)extra + 1;
}

static void ask(cts_iterator *iterator, const char *text, size_t length) {
    cts_segment found[64];
    size_t count;
    if (!cts_begin(iterator, text, length)) {
        fprintf(stderr, "a text cannot be begun\n");
        exit(1);
    }
    while ((count = cts_next(iterator, found, 64))) {
        add(found, count * sizeof *found);
        segments += (long)count;
    }
    texts++;
}

int main(int count, char **paths) {
    static char text[capacity], composed[2 * capacity];
    for (size_t l = 0; l < sizeof languages / sizeof *languages; l++) {
        const char *error = NULL;
        cts_iterator *iterators[] = {cts_open(CTS_WORDS, languages[l], &error), cts_open(CTS_SENTENCES, languages[l], &error)};
        if (!iterators[0] || !iterators[1]) {
            fprintf(stderr, "language '%s': %s\n", languages[l], error ? error : "no iterator");
            return 1;
        }
        for (int t = 1; t < count + made_texts; t++) {
            size_t length = 0;
            if (t < count) {
                FILE *file = fopen(paths[t], "rb");
                if (!file) {
                    perror(paths[t]);
                    return 1;
                }
                length = fread(text, 1, sizeof text, file);
                fclose(file);
            } else {
                unsigned script = next_random() % script_count;
                for (unsigned left = next_random() % 120 + 1; left; left--) {
                    if (next_random() % 8 == 0) script = next_random() % script_count;
                    const unsigned *range = scripts[script];
                    unsigned scalar = range[0] + next_random() % (range[1] - range[0] + 1);
                    length += append(text + length, next_random() % 12 == 0 ? ' ' : scalar);
                }
            }
            for (int unit = 0; unit < 2; unit++) {
                ask(iterators[unit], text, length);
                ptrdiff_t written = cts_compose(text, length, unit, languages[l], composed, sizeof composed);
                add(&written, sizeof written);
                if (written > 0) add(composed, (size_t)written);
            }
        }
        cts_close(iterators[0]);
        cts_close(iterators[1]);
    }
    printf("%016llx: %ld texts, %ld segments\n", hash, texts, segments);
}
