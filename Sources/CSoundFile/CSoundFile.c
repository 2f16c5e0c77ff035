#include "CSoundFile.h"
