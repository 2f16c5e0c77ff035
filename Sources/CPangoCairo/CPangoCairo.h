// The headers of cairo and Pango, where pkg-config says that they are.
#pragma once

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <pango/pangocairo.h>
