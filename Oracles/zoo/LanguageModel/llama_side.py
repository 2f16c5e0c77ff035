"""llama.cpp's tokens a second for a decoder of the same shape, with random Q4_0 weights.

    llama_side.py FOLDER [--threads N]

Writes `FOLDER/llama.gguf` if it is missing and prints the tokens a second of the prompt and of the generation after it, the
best of three rounds.  With one thread the times are processor times, otherwise times on the clock.
"""
import argparse
import pathlib
import time

import numpy as np

from shape import Shape


def quantised(random, rows, columns, spread):
    """Random Q4_0 rows [rows, bytes]: for each 32 weights a float16 scale and 16 bytes of codes around 8."""
    blocks = columns // 32
    codes = random.integers(1, 16, (rows, blocks, 32), dtype=np.uint8)
    scales = (spread / 4.5 * (0.7 + 0.6 * random.random((rows, blocks, 1)))).astype(np.float16)
    packed = codes[..., :16] | codes[..., 16:] << 4
    return np.concatenate([scales.view(np.uint8), packed], axis=2).reshape(rows, -1)


def write(path, shape):
    import gguf

    random = np.random.default_rng(7)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.inner)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.shared)
    writer.add_rope_dimension_count(shape.head)
    writer.add_rope_freq_base(shape.base)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(shape.words)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
    writer.add_tokenizer_model("no_vocab")

    def matrix(name, rows, columns, gain=1.0):
        writer.add_tensor(name, quantised(random, rows, columns, gain * columns ** -0.5),
                          raw_dtype=gguf.GGMLQuantizationType.Q4_0)

    def norm(name):
        writer.add_tensor(name, (0.8 + 0.4 * random.random(shape.width)).astype(np.float32))

    narrow = shape.shared * shape.head
    matrix("token_embd.weight", shape.words, shape.width, shape.width ** 0.5)
    norm("output_norm.weight")
    for layer in range(shape.layers):
        prefix = f"blk.{layer}."
        norm(prefix + "attn_norm.weight")
        norm(prefix + "ffn_norm.weight")
        matrix(prefix + "attn_q.weight", shape.width, shape.width, 1.5)
        matrix(prefix + "attn_k.weight", narrow, shape.width, 1.5)
        matrix(prefix + "attn_v.weight", narrow, shape.width, 1.5)
        matrix(prefix + "attn_output.weight", shape.width, shape.width)
        matrix(prefix + "ffn_gate.weight", shape.inner, shape.width)
        matrix(prefix + "ffn_up.weight", shape.inner, shape.width)
        matrix(prefix + "ffn_down.weight", shape.width, shape.inner)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--prompt", type=int, default=96)
    parser.add_argument("--generated", type=int, default=32)
    options = parser.parse_args()
    path = options.folder / "llama.gguf"
    shape = Shape()
    if not path.exists():
        options.folder.mkdir(parents=True, exist_ok=True)
        write(path.with_suffix(".part"), shape)
        path.with_suffix(".part").rename(path)
    import llama_cpp

    model = llama_cpp.Llama(str(path), n_ctx=shape.context, n_batch=shape.context, n_threads=options.threads,
                            n_threads_batch=options.threads, logits_all=False, verbose=False)
    clock = time.process_time if options.threads == 1 else time.perf_counter
    random = np.random.default_rng(5)
    prompt = [int(token) for token in random.integers(0, shape.words, options.prompt)]
    best = [0.0, 0.0]
    for _ in range(3):
        model.reset()
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(model.ctx), True)
        started = clock()
        model.eval(prompt)
        best[0] = max(best[0], options.prompt / (clock() - started))
        started = clock()
        for _ in range(options.generated):
            row = np.ctypeslib.as_array(llama_cpp.llama_get_logits(model.ctx), (shape.words,))
            model.eval([int(row.argmax())])
        best[1] = max(best[1], options.generated / (clock() - started))
    clock_name = "processor time" if options.threads == 1 else "time on the clock"
    print(f"llama.cpp, Q4_0: prompt of {options.prompt}: {best[0]:.1f} tokens a second, generation: {best[1]:.1f} "
          f"({options.threads} threads, {clock_name})")


if __name__ == "__main__":
    main()
