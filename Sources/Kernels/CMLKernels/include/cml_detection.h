// Choosing among overlapping boxes.
#pragma once
#include "cml_runtime.h"

// Boxes as centre x, centre y, width, height with a score for each class: element (box, i) of the boxes at
// box * box_step + i * part_step, of the scores at box * score_step + class * class_step.
typedef struct {
    long boxes, classes;
    long box_step, part_step, score_step, class_step;
    double overlap;          // boxes that share more than this part of their union with a selected one are dropped
    int has_threshold;       // boxes whose best score is not above `threshold` are dropped
    double threshold;
    int per_class;           // only boxes of the same best class drop each other
} cml_suppression;

// Selects at most `count` boxes in the order of their best scores, equal ones in the order of their positions; a score
// that is NaN comes last.  When all are dropped the best one stays.  Returns how many were selected.
long cml_suppress(const cml_isa *isa, const cml_suppression *s, const float *boxes, const float *scores, long count,
                  int32_t *selected);
