#include "CPQ.h"
