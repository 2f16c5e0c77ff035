// Recurrent layers.  Columns of packed weights are in blocks of the panel width: for each block of hidden units, the
// block of gate 0, of gate 1, ...; see cml_rnn_column.
#pragma once
#include "cml_gemm.h"

typedef struct {
    cml_unary function;
    float alpha, beta;
} cml_rnn_function;

typedef struct {
    long steps, batch, hidden;
    int gates;                    // 4: LSTM (input, forget, output, cell); 3: GRU (update, reset, output)
    int reset_after;              // GRU: the reset gate multiplies the product of the state, not the state
    int reverse;                  // last step first
    // The input's part of the gates with biases: [steps][batch][columns] as cml_gemm gives it.
    const float *projected;
    const void *recurrent;        // packed [hidden, columns]
    cml_storage storage;
    const float *recurrent_bias;  // GRU with reset_after: bias of the state's part, [columns], or null
    const float *peephole[3];     // LSTM: input, forget, output, [hidden] each, or null
    float cell_clip;              // bounds the cell state; 0 for none
    cml_rnn_function gate, cell, output;  // sigmoid, tanh, tanh as a rule
    float *h, *c;                 // [batch][hidden]: initial state in, last state out
    float *y;                     // every state, [steps][batch][y_stride], or null
    long y_stride;
    // LSTM: what the backward pass reads of every step, [steps][batch][CML_LSTM_RECORD][hidden], or null: the input,
    // forget and output gate, the candidate, the function of the cell state, and the cell state.
    float *record;
} cml_rnn_call;

#define CML_LSTM_RECORD 6

// Columns of the packed matrices, and the one of a gate of a hidden unit.
long cml_rnn_columns(const cml_isa *isa, long hidden, int gates);
long cml_rnn_column(const cml_isa *isa, long unit, int gate, int gates);
// Runs `count` layers or directions in parallel.
void cml_rnn(const cml_isa *isa, const cml_rnn_call *calls, int count);

// A function's derivative as a polynomial of its value y: c[0] + c[1] y + c[2] y^2.
typedef struct {
    float c[3];
} cml_slope;

// One step of an LSTM's backward pass.
typedef struct {
    long rows, hidden;
    cml_slope gate, cell, output;
    const float *peephole[3];     // as in cml_rnn_call
    float cell_clip;
    const float *record;          // of this step: [rows][CML_LSTM_RECORD][hidden]
    const float *c_before;        // cell states before the step: rows of c_stride elements
    long c_stride;
    const float *dh;              // [rows][hidden]: gradient of the states after the step
    float *dc;                    // [rows][hidden]: that of the cell states after the step in, before the step out
    float *sums;                  // [rows][4][hidden]: gradients of the gates' sums
    float *peephole_gradient;     // [3][hidden], added to, or null
} cml_lstm_step;

void cml_lstm_back(const cml_isa *isa, const cml_lstm_step *step);
