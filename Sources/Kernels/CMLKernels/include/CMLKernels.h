// Numeric kernels: plain C, one template per family compiled for each instruction set, chosen once at run time.
// Every size and stride is counted in elements unless a name ends in `_bytes`.
#pragma once
#include "cml_runtime.h"
#include "cml_gemm.h"
#include "cml_codes.h"
#include "cml_conv.h"
#include "cml_move.h"
#include "cml_elementwise.h"
#include "cml_reduce.h"
#include "cml_attention.h"
#include "cml_pool.h"
#include "cml_rnn.h"
#include "cml_detection.h"
#include "cml_trees.h"
#include "cml_double.h"
