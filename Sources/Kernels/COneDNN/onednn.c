// The few declarations that both versions of the C interface share in binary form are written here: handles are
// pointers, descriptors of memory are passed by address.  Version 2 fills a descriptor in the caller's memory, version 3
// allocates it; everything else is told apart by the name of the function.
#include "COneDNN.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    CPU = 1, IN_ORDER = 1, F32 = 3, ANY_LAYOUT = 1, FORWARD_INFERENCE = 96, CONVOLUTION_DIRECT = 1,
    QUERY_SRC = 129, QUERY_WEIGHTS = 131, QUERY_DST = 133,
    ARGUMENT_SRC = 1, ARGUMENT_DST = 17, ARGUMENT_WEIGHTS = 33, ARGUMENT_BIAS = 41,
    MAX_AXES = 12, DESCRIPTOR_BYTES = 4096, OPERATION_BYTES = 65536,
};

typedef int64_t sizes[MAX_AXES];
typedef struct {
    int argument;
    void *memory;
} argument;

#define ALLOCATE ((void *)(size_t)-1)

static struct {
    int version;
    void *engine, *stream;
    int (*engine_create)(void **, int, size_t);
    int (*stream_create)(void **, void *, unsigned);
    int (*stream_wait)(void *);
    int (*memory_create)(void **, const void *, void *, void *);
    int (*memory_set)(void *, void *);
    int (*memory_destroy)(void *);
    int (*primitive_create)(void **, const void *);
    int (*primitive_execute)(void *, void *, int, const argument *);
    int (*primitive_destroy)(void *);
    int (*description_destroy)(void *);
    const void *(*description_query)(const void *, int, int);
    int (*reorder)(void **, const void *, void *, const void *, void *, const void *);
    int (*layout_by_tag)(void *, int, const int64_t *, int, int);
    int (*layout_by_strides)(void *, int, const int64_t *, int, const int64_t *);
    int (*layout_destroy)(void *);
    int (*convolution_2)(void *, int, int, const void *, const void *, const void *, const void *, const int64_t *,
                         const int64_t *, const int64_t *, const int64_t *);
    int (*convolution_3)(void **, void *, int, int, const void *, const void *, const void *, const void *,
                         const int64_t *, const int64_t *, const int64_t *, const int64_t *, const void *);
    int (*matmul_2)(void *, const void *, const void *, const void *, const void *);
    int (*matmul_3)(void **, void *, const void *, const void *, const void *, const void *, const void *);
    int (*description_create_2)(void **, const void *, const void *, void *, const void *);
} dnnl;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool find(void *library, void *place, const char *name) {
    void *symbol = dlsym(library, name);
    memcpy(place, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void open_library(void) {
    setenv("GOMP_SPINCOUNT", "10000", 0);
    static const char *const names[] = {"libdnnl.so.3", "libdnnl.so.2"};
    for (int i = 0; i < 2; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!library) continue;
        const int version = 3 - i;
        bool complete = find(library, &dnnl.engine_create, "dnnl_engine_create")
            && find(library, &dnnl.stream_create, "dnnl_stream_create")
            && find(library, &dnnl.stream_wait, "dnnl_stream_wait")
            && find(library, &dnnl.memory_create, "dnnl_memory_create")
            && find(library, &dnnl.memory_set, "dnnl_memory_set_data_handle")
            && find(library, &dnnl.memory_destroy, "dnnl_memory_destroy")
            && find(library, &dnnl.primitive_create, "dnnl_primitive_create")
            && find(library, &dnnl.primitive_execute, "dnnl_primitive_execute")
            && find(library, &dnnl.primitive_destroy, "dnnl_primitive_destroy")
            && find(library, &dnnl.description_destroy, "dnnl_primitive_desc_destroy")
            && find(library, &dnnl.description_query, "dnnl_primitive_desc_query_md")
            && find(library, &dnnl.reorder, "dnnl_reorder_primitive_desc_create");
        if (version == 2) {
            complete = complete && find(library, &dnnl.layout_by_tag, "dnnl_memory_desc_init_by_tag")
                && find(library, &dnnl.layout_by_strides, "dnnl_memory_desc_init_by_strides")
                && find(library, &dnnl.convolution_2, "dnnl_dilated_convolution_forward_desc_init")
                && find(library, &dnnl.matmul_2, "dnnl_matmul_desc_init")
                && find(library, &dnnl.description_create_2, "dnnl_primitive_desc_create");
        } else {
            complete = complete && find(library, &dnnl.layout_by_tag, "dnnl_memory_desc_create_with_tag")
                && find(library, &dnnl.layout_by_strides, "dnnl_memory_desc_create_with_strides")
                && find(library, &dnnl.layout_destroy, "dnnl_memory_desc_destroy")
                && find(library, &dnnl.convolution_3, "dnnl_convolution_forward_primitive_desc_create")
                && find(library, &dnnl.matmul_3, "dnnl_matmul_primitive_desc_create");
        }
        if (complete && dnnl.engine_create(&dnnl.engine, CPU, 0) == 0
                && dnnl.stream_create(&dnnl.stream, dnnl.engine, IN_ORDER) == 0) {
            dnnl.version = version;
            return;
        }
        dlclose(library);
    }
}

int codnn_version(void) {
    pthread_once(&once, open_library);
    return dnnl.version;
}

// A descriptor of memory: its own bytes for version 2, a handle for version 3.
typedef struct {
    void *handle;
} layout;

static bool make_layout(layout *l, int axes, const int64_t *size, const int64_t *strides) {
    void *target;
    if (dnnl.version == 2) {
        l->handle = calloc(1, DESCRIPTOR_BYTES);
        target = l->handle;
    } else {
        l->handle = NULL;
        target = &l->handle;
    }
    return (strides ? dnnl.layout_by_strides(target, axes, size, F32, strides)
                    : dnnl.layout_by_tag(target, axes, size, F32, ANY_LAYOUT)) == 0;
}

static void free_layout(layout *l) {
    if (!l->handle) return;
    if (dnnl.version == 2) free(l->handle);
    else dnnl.layout_destroy(l->handle);
}

struct codnn_operation {
    void *description, *primitive, *src, *dst, *weights, *bias;
    float *bias_values;
};

void codnn_destroy(codnn_operation *o) {
    if (!o) return;
    if (o->primitive) dnnl.primitive_destroy(o->primitive);
    if (o->description) dnnl.description_destroy(o->description);
    void *const memories[] = {o->src, o->dst, o->weights, o->bias};
    for (int i = 0; i < 4; i++) if (memories[i]) dnnl.memory_destroy(memories[i]);
    free(o->bias_values);
    free(o);
}

// Makes the primitive and brings the plain weights into the layout it wants.
static codnn_operation *finish(codnn_operation *o, const layout *plain_weights, const float *weights,
                               const layout *bias_layout, const float *bias, long outputs) {
    void *source = NULL, *reordering = NULL, *reorder = NULL;
    bool good = dnnl.primitive_create(&o->primitive, o->description) == 0;
    const void *wanted = good ? dnnl.description_query(o->description, QUERY_WEIGHTS, 0) : NULL;
    good = good && wanted && dnnl.memory_create(&o->weights, wanted, dnnl.engine, ALLOCATE) == 0
        && dnnl.memory_create(&source, plain_weights->handle, dnnl.engine, (void *)(uintptr_t)weights) == 0
        && dnnl.reorder(&reordering, plain_weights->handle, dnnl.engine, wanted, dnnl.engine, NULL) == 0
        && dnnl.primitive_create(&reorder, reordering) == 0;
    if (good) {
        const argument arguments[] = {{ARGUMENT_SRC, source}, {ARGUMENT_DST, o->weights}};
        good = dnnl.primitive_execute(reorder, dnnl.stream, 2, arguments) == 0 && dnnl.stream_wait(dnnl.stream) == 0;
    }
    if (good && bias) {
        o->bias_values = malloc(sizeof(float) * (size_t)outputs);
        memcpy(o->bias_values, bias, sizeof(float) * (size_t)outputs);
        good = dnnl.memory_create(&o->bias, bias_layout->handle, dnnl.engine, o->bias_values) == 0;
    }
    good = good && dnnl.memory_create(&o->src, dnnl.description_query(o->description, QUERY_SRC, 0), dnnl.engine, NULL) == 0
        && dnnl.memory_create(&o->dst, dnnl.description_query(o->description, QUERY_DST, 0), dnnl.engine, NULL) == 0;
    if (reorder) dnnl.primitive_destroy(reorder);
    if (reordering) dnnl.description_destroy(reordering);
    if (source) dnnl.memory_destroy(source);
    if (good) return o;
    codnn_destroy(o);
    return NULL;
}

codnn_operation *codnn_convolution(const codnn_convolution_arguments *a) {
    if (codnn_version() == 0) return NULL;
    sizes src = {a->batch, a->in_channels}, dst = {a->batch, a->out_channels}, src_step, dst_step, weight, weight_step;
    sizes strides = {0}, dilations = {0}, left = {0}, right = {0}, outputs = {a->out_channels}, one = {1};
    int64_t from = a->in_channels, to = a->out_channels, taps = 1;
    int weight_axes = 0;
    if (a->groups > 1) weight[weight_axes++] = a->groups;
    weight[weight_axes++] = a->out_channels / a->groups;
    weight[weight_axes++] = a->in_channels / a->groups;
    src_step[1] = dst_step[1] = 1;
    for (int axis = a->axes - 1; axis >= 0; axis--) {
        src[2 + axis] = a->in_size[axis];
        dst[2 + axis] = a->out_size[axis];
        src_step[2 + axis] = from;
        dst_step[2 + axis] = to;
        from *= a->in_size[axis];
        to *= a->out_size[axis];
        weight[weight_axes + axis] = a->kernel[axis];
        weight_step[weight_axes + axis] = taps;
        taps *= a->kernel[axis];
        strides[axis] = a->stride[axis];
        dilations[axis] = a->dilation[axis] - 1;
        left[axis] = a->padding_before[axis];
        right[axis] = a->padding_after[axis];
    }
    src_step[0] = from;
    dst_step[0] = to;
    for (int axis = weight_axes - 1; axis >= 0; axis--) {
        weight_step[axis] = taps;
        taps *= weight[axis];
    }
    weight_axes += a->axes;
    layout x = {0}, y = {0}, w = {0}, b = {0}, plain = {0};
    codnn_operation *o = calloc(1, sizeof *o);
    bool good = make_layout(&x, a->axes + 2, src, src_step) && make_layout(&y, a->axes + 2, dst, dst_step)
        && make_layout(&w, weight_axes, weight, NULL) && make_layout(&plain, weight_axes, weight, weight_step)
        && make_layout(&b, 1, outputs, one);
    const void *const bias_layout = a->bias ? b.handle : NULL;
    if (good && dnnl.version == 2) {
        void *description = calloc(1, OPERATION_BYTES);
        good = dnnl.convolution_2(description, FORWARD_INFERENCE, CONVOLUTION_DIRECT, x.handle, w.handle, bias_layout,
                                  y.handle, strides, dilations, left, right) == 0
            && dnnl.description_create_2(&o->description, description, NULL, dnnl.engine, NULL) == 0;
        free(description);
    } else if (good) {
        good = dnnl.convolution_3(&o->description, dnnl.engine, FORWARD_INFERENCE, CONVOLUTION_DIRECT, x.handle,
                                  w.handle, bias_layout, y.handle, strides, dilations, left, right, NULL) == 0;
    }
    if (good) {
        o = finish(o, &plain, a->weights, &b, a->bias, a->out_channels);
    } else {
        codnn_destroy(o);
        o = NULL;
    }
    free_layout(&x);
    free_layout(&y);
    free_layout(&w);
    free_layout(&b);
    free_layout(&plain);
    return o;
}

codnn_operation *codnn_matmul(const codnn_matmul_arguments *a) {
    if (codnn_version() == 0) return NULL;
    sizes src = {a->m, a->k}, dst = {a->m, a->n}, weight = {a->k, a->n}, row = {1, a->n};
    sizes src_step = {a->src_stride, 1}, dst_step = {a->dst_stride, 1};
    sizes weight_step = {a->k_stride, a->n_stride}, row_step = {a->n, 1};
    layout x = {0}, y = {0}, w = {0}, b = {0}, plain = {0};
    codnn_operation *o = calloc(1, sizeof *o);
    bool good = make_layout(&x, 2, src, src_step) && make_layout(&y, 2, dst, dst_step)
        && make_layout(&w, 2, weight, NULL) && make_layout(&plain, 2, weight, weight_step)
        && make_layout(&b, 2, row, row_step);
    const void *const bias_layout = a->bias ? b.handle : NULL;
    if (good && dnnl.version == 2) {
        void *description = calloc(1, OPERATION_BYTES);
        good = dnnl.matmul_2(description, x.handle, w.handle, bias_layout, y.handle) == 0
            && dnnl.description_create_2(&o->description, description, NULL, dnnl.engine, NULL) == 0;
        free(description);
    } else if (good) {
        good = dnnl.matmul_3(&o->description, dnnl.engine, x.handle, w.handle, bias_layout, y.handle, NULL) == 0;
    }
    if (good) {
        o = finish(o, &plain, a->weights, &b, a->bias, a->n);
    } else {
        codnn_destroy(o);
        o = NULL;
    }
    free_layout(&x);
    free_layout(&y);
    free_layout(&w);
    free_layout(&b);
    free_layout(&plain);
    return o;
}

bool codnn_run(codnn_operation *o, const float *src, float *dst) {
    if (dnnl.memory_set(o->src, (void *)(uintptr_t)src) != 0 || dnnl.memory_set(o->dst, dst) != 0) return false;
    argument arguments[4] = {{ARGUMENT_SRC, o->src}, {ARGUMENT_DST, o->dst}, {ARGUMENT_WEIGHTS, o->weights}};
    int count = 3;
    if (o->bias) arguments[count++] = (argument){ARGUMENT_BIAS, o->bias};
    return dnnl.primitive_execute(o->primitive, dnnl.stream, count, arguments) == 0
        && dnnl.stream_wait(dnnl.stream) == 0;
}
