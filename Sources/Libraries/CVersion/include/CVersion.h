#ifndef CVERSION_H
#define CVERSION_H

/// The version of the project, as the file VERSION states it, with the newline at its end.
const char *cversion(void);

#endif
