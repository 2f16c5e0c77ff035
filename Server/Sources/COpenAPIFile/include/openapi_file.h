#ifndef OPENAPI_FILE_H
#define OPENAPI_FILE_H

/* Server/openapi.yaml, as it was when the server was built, and how many bytes it has. */
const unsigned char *openapi_file(void);
unsigned long openapi_file_length(void);

#endif
