#include "CTextSegmentation.h"
