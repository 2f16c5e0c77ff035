"""The classifier of languages in Python: words, features, training, and the data that NaturalLanguage reads.

Documentation/LanguageRecognizer.md says what the model is; Sources/Public/NaturalLanguage/LanguageModel.swift and
LanguageEvidence.swift must agree with this file.
"""
import base64
import collections
import re
import struct
import unicodedata

import numpy as np
import scipy.sparse as sparse

import language_texts

# A script's letters and marks, what a letter says beside one of an alphabet, and the languages that share it.
SHARED = {
    "Latn": ([(0x41, 0x5A), (0x61, 0x7A), (0xAA, 0xAA), (0xBA, 0xBA), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2AF),
              (0x1E00, 0x1EFF), (0x2C60, 0x2C7F), (0xA722, 0xA7FF), (0xFB00, 0xFB06)], 1, language_texts.LATIN),
    "Cyrl": ([(0x400, 0x481), (0x48A, 0x52F), (0x1C80, 0x1C8F), (0xA640, 0xA66E), (0xA680, 0xA69B)], 1,
             language_texts.CYRILLIC),
    "Arab": ([(0x620, 0x65F), (0x66E, 0x6D3), (0x6D5, 0x6DC), (0x6DF, 0x6E8), (0x6EA, 0x6EF), (0x6FA, 0x6FC),
              (0x6FF, 0x6FF), (0x750, 0x77F), (0x8A0, 0x8FF), (0xFB50, 0xFDCF), (0xFDF0, 0xFDFB), (0xFE70, 0xFEFC)], 1,
             language_texts.ARABIC),
    "Deva": ([(0x900, 0x963), (0x971, 0x97F), (0xA8E0, 0xA8F7)], 1, language_texts.DEVANAGARI),
    "Hani": ([(0x3005, 0x3007), (0x3041, 0x309F), (0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF),
              (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x20000, 0x323AF)], 2, language_texts.HAN),
}
# Scripts of one language here.
SINGLE = {
    "el": ([(0x370, 0x3FF), (0x1F00, 0x1FFF)], 1), "hy": ([(0x530, 0x58F), (0xFB13, 0xFB17)], 1),
    "he": ([(0x591, 0x5FF), (0xFB1D, 0xFB4F)], 1), "bn": ([(0x980, 0x9FF)], 1), "pa": ([(0xA00, 0xA7F)], 1),
    "gu": ([(0xA80, 0xAFF)], 1), "or": ([(0xB00, 0xB7F)], 1), "ta": ([(0xB80, 0xBFF)], 1), "te": ([(0xC00, 0xC7F)], 1),
    "kn": ([(0xC80, 0xCFF)], 1), "ml": ([(0xD00, 0xD7F)], 1), "si": ([(0xD80, 0xDFF)], 1), "th": ([(0xE00, 0xE7F)], 1),
    "lo": ([(0xE80, 0xEFF)], 1), "bo": ([(0xF00, 0xFFF)], 1),
    "my": ([(0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F)], 1),
    "ka": ([(0x10A0, 0x10FF), (0x1C90, 0x1CBF), (0x2D00, 0x2D2F)], 1),
    "ko": ([(0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97F), (0xAC00, 0xD7FF), (0xFFA0, 0xFFDC)], 2),
    "am": ([(0x1200, 0x139F), (0x2D80, 0x2DDF), (0xAB00, 0xAB2F)], 1), "chr": ([(0x13A0, 0x13FF), (0xAB70, 0xABBF)], 1),
    "km": ([(0x1780, 0x17FF)], 1), "mn": ([(0x1820, 0x18AF)], 1), "zh-Hant": ([(0x3105, 0x312F), (0x31A0, 0x31BF)], 1),
}
MAGIC = 0x31524C4E
BITS = 24


def letters(script):
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in SHARED[script][0])


WORDS = {script: re.compile(f"[{letters(script)}](?:[{letters(script)}\u0300-\u036f\u200c\u200d]|'(?=[{letters(script)}]))*")
         for script in SHARED}


def spelling(text):
    text = unicodedata.normalize("NFC", text).lower()
    return re.sub("[\u2019\u02bc`]", "'", text)


def words(script, text):
    return WORDS[script].findall(spelling(text))


def key(state):
    """The key of a feature: 24 mixed bits of the hash's state."""
    state = state ^ (state >> np.uint32(15))
    state = state * np.uint32(0x2C1B3C6D)
    state = state ^ (state >> np.uint32(12))
    return state >> np.uint32(32 - BITS)


def features(vocabulary, script):
    """The features of words: places in the vocabulary and keys.

    N-grams of 1 to 5 characters of a word between blanks, and words of at least 4 characters as a whole; of Han and kana
    one and two characters.
    """
    has_words, longest = script != "Hani", 2 if script == "Hani" else 5
    blank = " " if has_words else "\0"
    text = np.frombuffer((blank + blank.join(vocabulary) + blank).encode("utf-32-le"), dtype=np.uint32)
    lengths = np.array([len(word) for word in vocabulary])
    starts = np.concatenate([[0], np.cumsum(lengths + 1)[:-1]]) + (0 if has_words else 1)
    counts = lengths + (1 if has_words else 0)
    owner = np.repeat(np.arange(len(vocabulary)), counts)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(starts, counts)
    end = np.repeat(starts + lengths + (2 if has_words else 0), counts)
    state = np.full(len(owner), 0x811C9DC5, np.uint32)
    rows, keys = [], []
    for length in range(1, longest + 1):
        fits = place + length <= end
        place, end, state, owner = place[fits], end[fits], state[fits], owner[fits]
        state = (state ^ text[place + length - 1]) * np.uint32(0x01000193)
        counted = text[place] != 0x20 if length == 1 else np.ones(len(place), bool)
        rows.append(owner[counted].astype(np.int32))
        keys.append(key(state[counted]))
    if has_words:
        state = np.full(len(vocabulary), 0x2F0B4C47, np.uint32)
        alive = np.arange(len(vocabulary))
        for index in range(int(lengths.max())):
            alive = alive[lengths[alive] > index]
            state[alive] = (state[alive] ^ text[starts[alive] + 1 + index]) * np.uint32(0x01000193)
        whole = np.nonzero(lengths >= 4)[0]
        rows.append(whole.astype(np.int32))
        keys.append(key(state[whole]))
    return np.concatenate(rows), np.concatenate(keys)


def charset(encoding):
    """The Han characters of a double-byte character set: what is written where it is used."""
    result = []
    for first in range(0x81, 0xFF):
        for second in range(0x40, 0xFF):
            try:
                text = bytes([first, second]).decode(encoding)
            except UnicodeDecodeError:
                continue
            if len(text) == 1 and 0x4E00 <= ord(text) <= 0x9FFF:
                result.append(text)
    return sorted(set(result))


CHARSETS = {"zh-Hans": "gb2312", "zh-Hant": "big5", "ja": "shift_jis"}


class Learner:
    """The languages of one script.

    `texts` are lists of texts by language and source; the source "dictionary" has words.
    """

    def __init__(self, script, texts, seed, most_words=45000, most_entries=25000):
        self.script, self.languages = script, SHARED[script][2]
        self.random = np.random.default_rng(seed)
        vocabulary = {}
        self.streams, self.counts, self.entries = [], [], []
        for language in self.languages:
            count, streams = collections.Counter(), []
            for source, rows in sorted(texts[language].items()):
                if source == "dictionary":
                    continue
                rows = [row for row in (words(script, text) for text in rows) if row]
                self.random.shuffle(rows)
                streams.append(rows)
                for row in rows:
                    count.update(row)
            if script == "Hani":
                entries = charset(CHARSETS[language])
            else:
                entries = [spelling(word) for word in texts[language].get("dictionary", [])]
                entries = [word for word in entries if len(word) < 25 and WORDS[script].fullmatch(word)]
                entries = [entries[index] for index in self.random.permutation(len(entries))[:most_entries]]
            kept = sorted(count, key=lambda word: (-count[word], word))[:most_words]
            for word in kept + entries:
                vocabulary.setdefault(word, len(vocabulary))
            self.counts.append((np.array([vocabulary[word] for word in kept], np.int64),
                                np.array([count[word] for word in kept], float)))
            self.entries.append(np.array([vocabulary[word] for word in entries], np.int64))
            streams = [np.array([vocabulary[word] for row in rows for word in row if word in vocabulary], np.int32)
                       for rows in streams]
            self.streams.append([stream for stream in streams if len(stream) > 100] or [self.entries[-1]])
        self.vocabulary = list(vocabulary)

    def select(self, count):
        """Keeps the `count` features that say most about the language: the sum of p log(p / mean p) over languages."""
        rows, keys = features(self.vocabulary, self.script)
        total, entropy = np.zeros(1 << BITS), np.zeros(1 << BITS)
        for (places, counts), entries in zip(self.counts, self.entries):
            weight = np.zeros(len(self.vocabulary))
            if len(places):
                weight[places] += np.where(counts > 1, counts, 0.5) ** 0.8 / (np.where(counts > 1, counts, 0.5) ** 0.8).sum()
            if len(entries):
                weight[entries] += (0.25 if len(places) else 1) / len(entries)
            share = np.bincount(keys, weights=(weight / weight.sum())[rows], minlength=1 << BITS) + 2e-6
            total += share
            entropy += share * np.log(share)
        score = entropy - total * np.log(total / len(self.languages))
        self.keys = np.sort(np.argsort(-score, kind="stable")[:count]).astype(np.uint32)
        column = np.full(1 << BITS, -1, np.int32)
        column[self.keys] = np.arange(count)
        found = column[keys]
        kept = found >= 0
        self.table = sparse.csr_matrix((np.ones(kept.sum(), np.float32), (rows[kept], found[kept])),
                                       shape=(len(self.vocabulary), count))

    def samples(self, count, shares):
        """Features and languages of made-up texts: words (35 %, a third from dictionaries), phrases of 2–4 words (25 %),
        5–15 words (25 %), 16–59 words (15 %)."""
        rows, columns, labels, number = [], [], [], 0
        for index in range(len(self.languages)):
            size = int(count * shares[index])
            streams, entries = self.streams[index], self.entries[index]
            weights = np.array([len(stream) for stream in streams], float) ** 0.7
            kinds = self.random.choice(4, size, p=[0.35, 0.25, 0.25, 0.15])
            sources = self.random.choice(len(streams), size, p=weights / weights.sum())
            places, counts = self.counts[index]
            picks = None
            if len(places):
                picks = self.random.choice(places, size, p=counts ** 0.6 / (counts ** 0.6).sum())
            for kind, source, position in zip(kinds, sources, range(size)):
                if kind == 0:
                    if len(entries) and (picks is None or self.random.random() < 0.3):
                        found = [entries[self.random.integers(len(entries))]]
                    else:
                        found = [picks[position]]
                else:
                    length = int(self.random.integers(*((2, 5), (5, 16), (16, 60))[kind - 1]))
                    if self.script == "Hani":
                        length = max(1, length // 4)
                    stream = streams[source]
                    start = int(self.random.integers(max(1, len(stream) - length)))
                    found = stream[start:start + length]
                rows.append(np.full(len(found), number))
                columns.append(found)
                number += 1
            labels += [index] * size
        rows, columns = np.concatenate(rows), np.concatenate(columns)
        texts = sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=(number, len(self.vocabulary)))
        return scaled((texts @ self.table).tocsr()), np.array(labels)

    def train(self, width, epochs, count, shares, rate, batch=512):
        """Minimises the cross-entropy of a softmax by Adam: a feature has a vector of `width` values, which weights map to
        the languages; when there are no more languages than that, the vector has one value for each."""
        languages = len(self.languages)
        width = min(width, languages)
        is_direct = width == languages
        rng = self.random
        vectors = np.zeros((len(self.keys), width), np.float32)
        weights = np.eye(languages, dtype=np.float32)
        if not is_direct:
            vectors += rng.standard_normal(vectors.shape).astype(np.float32) * 0.05
            weights = (rng.standard_normal((width, languages)) * 2 / np.sqrt(width)).astype(np.float32)
        bias = np.zeros(languages, np.float32)
        values = [vectors, bias] if is_direct else [vectors, bias, weights]
        means, squares = [np.zeros_like(value) for value in values], [np.zeros_like(value) for value in values]
        step, steps = 0, epochs * (sum(int(count * share) for share in shares) // batch)
        for epoch in range(epochs):
            rows, labels = self.samples(count, shares)
            order = rng.permutation(len(labels))
            rows, labels = rows[order], labels[order]
            loss = 0.0
            for start in range(0, len(labels) - batch + 1, batch):
                x, y = rows[start:start + batch], labels[start:start + batch]
                hidden = x @ vectors
                p = softmax(hidden @ weights + bias)
                loss -= np.log(p[np.arange(batch), y] + 1e-9).mean()
                p[np.arange(batch), y] -= 1
                p /= batch
                gradients = [x.T @ (p @ weights.T), p.sum(0), hidden.T @ p]
                step += 1
                speed = rate * max(0.02, 1 - step / steps)
                for value, mean, square, gradient in zip(values, means, squares, gradients):
                    mean *= 0.9
                    mean += 0.1 * gradient
                    square *= 0.99
                    square += 0.01 * gradient * gradient
                    value -= speed * (mean / (1 - 0.9 ** step)) / (np.sqrt(square / (1 - 0.99 ** step)) + 1e-7)
            print(f"{self.script}: epoch {epoch + 1}, loss {loss / max(1, len(labels) // batch):.4f}", flush=True)
        self.vectors, self.weights, self.bias = vectors, weights, bias

    def data(self):
        """The group in the form that is shipped: four bits a value of a vector."""
        scales, codes = quantized(self.vectors)
        out = bytearray([2 if self.script == "Hani" else 5, self.script != "Hani", codes.shape[1]])
        out += self.bias.astype("<f4").tobytes() + self.weights.astype("<f4").tobytes()
        out += struct.pack("<I", len(self.keys))
        previous = 0
        for value in self.keys.tolist():
            out += variable(value - previous)
            previous = value
        out += scales.tobytes()
        if codes.shape[1] % 2:
            codes = np.pad(codes, ((0, 0), (0, 1)))
        nibbles = (codes + 8).astype(np.uint8)
        out += (nibbles[:, 0::2] | nibbles[:, 1::2] << 4).tobytes()
        return bytes(out)


def softmax(logits):
    logits = logits - logits.max(1, keepdims=True)
    result = np.exp(logits)
    return result / result.sum(1, keepdims=True)


def scaled(rows):
    """Counts of features over the square root of their sum."""
    total = np.asarray(rows.sum(1)).ravel()
    factor = (1 / np.sqrt(np.maximum(total, 1))).astype(np.float32)
    return sparse.csr_matrix((rows.data * np.repeat(factor, np.diff(rows.indptr)), rows.indices, rows.indptr),
                             shape=rows.shape)


def quantized(vectors):
    """Scales as bytes (eighths of a power of two, 128 more) and values -7…7: the scale of the least squared error."""
    greatest = np.ceil(np.log2(np.maximum(np.abs(vectors).max(1), 1e-6) / 7) * 8 + 128)
    best = None
    for less in (0, 2, 4, 6):
        scale = np.clip(greatest - less, 0, 255)
        factor = 2.0 ** ((scale - 128) / 8)
        codes = np.clip(np.round(vectors / factor[:, None]), -7, 7)
        error = ((codes * factor[:, None] - vectors) ** 2).sum(1)
        if best is None:
            best = [error, scale, codes]
        else:
            better = error < best[0]
            for kept, new in zip(best, (error, scale, codes)):
                kept[better] = new[better]
    return best[1].astype(np.uint8), best[2].astype(np.int8)


def variable(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return out


def write(groups, path):
    """Writes the C file that holds the model; `groups` are the data of the learners by script."""
    out = bytearray(struct.pack("<I", MAGIC))
    scripts = [(ranges, weight, languages, groups[name]) for name, (ranges, weight, languages) in SHARED.items()]
    scripts += [(ranges, weight, [language], b"") for language, (ranges, weight) in SINGLE.items()]
    out.append(len(scripts))
    for ranges, weight, languages, data in scripts:
        out += bytes([weight, len(ranges)])
        for start, end in ranges:
            out += struct.pack("<I", start)[:3] + struct.pack("<I", end)[:3]
        out.append(len(languages))
        for language in languages:
            out += bytes([len(language)]) + language.encode()
        out += data
    text = base64.b64encode(out).decode()
    lines = "\n".join(f'"{text[start:start + 118]}"' for start in range(0, len(text), 118))
    partial = path.with_suffix(".partial")
    partial.write_text(
        "// Written by Oracles/languages/train; what it is and what it was made from is in\n"
        "// Documentation/LanguageRecognizer.md.\n"
        '#include "CLanguageModel.h"\n\n'
        f"static const char model[] =\n{lines};\n\n"
        "const char *clm_model(size_t *length) {\n    *length = sizeof model - 1;\n    return model;\n}\n")
    partial.replace(path)
