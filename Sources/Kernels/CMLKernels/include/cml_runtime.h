// Instruction sets, memory and the worker pool.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Instruction sets

// The instruction sets a kernel template is compiled for, worst first.
typedef enum { CML_ISA_SSE2 = 0, CML_ISA_AVX2 = 1, CML_ISA_AVX512 = 2, CML_ISA_NEON = 3 } cml_isa_id;

struct cml_isa;
typedef struct cml_isa cml_isa;

// Tables never change.  The machine's: the best that the processor has, or the one COREML_ISA names (avx512, avx2, sse2,
// neon).
const cml_isa *cml_isa_standard(void);
// The table of a cml_isa_id; null when the processor lacks it.
const cml_isa *cml_isa_find(int isa);
// The table that this thread entered, or the machine's.
const cml_isa *cml_isa_current(void);
// The table with the other kernels of `isa` that computes products of half-floats and single-precision numbers in bfloat16,
// with sums in single precision; null when the processor lacks the tiles for it (AMX), or the operating system refuses them.
const cml_isa *cml_isa_low(const cml_isa *isa);
// Whether a table computes so, and the one that computes exactly instead.
bool cml_isa_is_low(const cml_isa *isa);
const cml_isa *cml_isa_exact(const cml_isa *isa);
// Makes `isa` this thread's table, and that of the jobs it gives to the workers; null: none.  The one before, to be
// entered again.
const cml_isa *cml_isa_enter(const cml_isa *isa);
// The identity of a table's instruction set; its name, which also says how it packs weights: tables with the same name pack
// them alike.
int cml_isa_identifier(const cml_isa *isa);
const char *cml_isa_name(const cml_isa *isa);
// Columns of one panel of packed weights.
long cml_isa_panel_width(const cml_isa *isa);
// Whether few rows are multiplied by palettes of 256 half-floats in less time than by half-floats.
bool cml_isa_looks_up_bytes(const cml_isa *isa);

// For tests: a second table of the same kernels that counts the calls of its rows; null when the processor lacks them.
const cml_isa *cml_isa_counting(int isa);
// The rows of every table, by number, and the number of calls that the counting table of instruction set `isa` has
// seen.
int cml_isa_row_count(void);
const char *cml_isa_row_name(int row);
long cml_isa_row_calls(int isa, int row);

// MARK: Memory

// 64-byte aligned memory, not zeroed; blocks of 2 MB and more are mapped, aligned to and advised to be huge pages.  Null
// when there is none.
void *cml_allocate(size_t bytes);
// `bytes` are those that were allocated.
void cml_free(void *memory, size_t bytes);
// A 64-byte aligned buffer of the calling thread, valid until the next call with the same slot (0...3) on this thread.
void *cml_scratch(int slot, size_t bytes);

// MARK: Workers

// One item of a job: `index` in 0..<count, `worker` in 0..<cml_worker_count().
typedef void (*cml_task)(void *context, long index, int worker);
// Threads that take part in a job, the caller included: COREML_THREADS, or what affinity and cgroup quota allow.
int cml_worker_count(void);
// Restricts jobs to `count` threads; 0 restores the default.  For benchmarks and tests.
void cml_worker_limit(int count);
// Say that this thread begins and ends a prediction.  While there are as many as threads in a job, every caller works alone.
void cml_prediction_begins(void);
void cml_prediction_ends(void);
// The threads that would take part in a job now: the caller alone while as many predictions run as threads.
int cml_free_worker_count(void);
// Runs task(context, 0...count-1) and returns when all are done.  The caller takes part; worker w starts with the
// w-th contiguous slice and then steals.  When the pool serves another caller, or the caller is itself a task, all
// items run on the calling thread.
void cml_parallel_for(long count, cml_task task, void *context);

// Multiplications and additions per second that `threads` threads reach in registers alone: the peak that kernels are
// compared with.
double cml_peak(const cml_isa *isa, int threads);
