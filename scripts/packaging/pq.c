// The functions of libpq that the server calls, from the system's library, which is opened when the first of them is called: a
// server over SQLite needs no libpq. The system's library, so that TLS, its certificates and Kerberos are those of the system.
#define LIBRARY_NAME "libpq"
#define LIBRARY_PURPOSE "servers over PostgreSQL"
#define LIBRARY_PACKAGE "libpq5"
#define LIBRARY_FILES "libpq.so.5"
#include "opened.h"

FORWARD(PQclear, (any a), (a))
FORWARD(PQcmdStatus, (any a), (a))
FORWARD(PQcmdTuples, (any a), (a))
FORWARD(PQconnectdbParams, (any a, any b, any c), (a, b, c))
FORWARD(PQconninfoFree, (any a), (a))
FORWARD(PQconninfoParse, (any a, any b), (a, b))
FORWARD(PQerrorMessage, (any a), (a))
FORWARD(PQexec, (any a, any b), (a, b))
FORWARD(PQexecPrepared, (any a, any b, any c, any d, any e, any f, any g), (a, b, c, d, e, f, g))
FORWARD(PQfinish, (any a), (a))
FORWARD(PQfname, (any a, any b), (a, b))
FORWARD(PQfreemem, (any a), (a))
FORWARD(PQftype, (any a, any b), (a, b))
FORWARD(PQgetisnull, (any a, any b, any c), (a, b, c))
FORWARD(PQgetvalue, (any a, any b, any c), (a, b, c))
FORWARD(PQnfields, (any a), (a))
FORWARD(PQntuples, (any a), (a))
FORWARD(PQprepare, (any a, any b, any c, any d, any e), (a, b, c, d, e))
FORWARD(PQresultErrorField, (any a, any b), (a, b))
FORWARD(PQresultStatus, (any a), (a))
FORWARD(PQserverVersion, (any a), (a))
FORWARD(PQsetNoticeProcessor, (any a, any b, any c), (a, b, c))
FORWARD(PQstatus, (any a), (a))
FORWARD(PQunescapeBytea, (any a, any b), (a, b))
