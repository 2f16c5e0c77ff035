#ifndef DASHBOARD_FILES_H
#define DASHBOARD_FILES_H

/// A file of the dashboard, compiled into the program.
struct dashboard_file {
    const char *name;
    /// Its media type; NULL for a template, which is not served as it is.
    const char *type;
    const unsigned char *bytes;
    unsigned long count;
};

/// The file with the given number, counted from 0; NULL beyond the last.
const struct dashboard_file *dashboard_file(unsigned long index);

#endif
