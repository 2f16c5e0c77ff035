"""Writes the data of the examples: drawings as sheets, and a network that has never seen a 7, 8 or 9.

Run with the Python of Oracles/Shared/environment.  The drawings are scikit-learn's digits, written by 13 people, 8×8 grey
scaled to 28×28 as in Tests/Fixtures/digits.  Writes, beside this file,

- `SevenDigits.mlmodel`: a neural network like that of the digits fixture, trained on 0 to 6 alone;
- `symbols.png`: drawings of 7, 8 and 9, one row a digit, each 28×28;
- `digits.png`: drawings of all digits that the digits fixture was not trained on, one row a digit.
"""
import pathlib
import sys

import coremltools as ct
import numpy as np
import torch
from PIL import Image
from sklearn.model_selection import train_test_split

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "Tests/Fixtures/digits"))
import make

KNOWN = 7
SYMBOLS = 60
DIGITS = 40


def sheet(file, pictures, labels, digits, count):
    rows = [np.concatenate(pictures[labels == digit][:count, 0], axis=1) for digit in digits]
    Image.fromarray(np.concatenate(rows).astype(np.uint8), "L").save(HERE / file, optimize=True)


def main():
    torch.manual_seed(7)
    torch.set_num_threads(1)
    pictures, labels = make.scans()
    known = labels < KNOWN
    # Few epochs: a network that has not yet forgotten what does not matter for 0 to 6 describes other symbols better.
    network = make.train(pictures[known], labels[known], epochs=25)
    trace = torch.jit.trace(network, torch.rand(1, 1, make.SIDE, make.SIDE))
    image = ct.ImageType("image", (1, 1, make.SIDE, make.SIDE), scale=1 / 255, color_layout=ct.colorlayout.GRAYSCALE)
    model = ct.convert(trace, inputs=[image], convert_to="neuralnetwork", skip_model_load=True)
    model.author = "The swift-coreml authors"
    model.license = "Apache-2.0"
    model.short_description = "Handwritten digits 0 to 6 (the outputs 7 to 9 were never trained)."
    model.save(str(HERE / "SevenDigits.mlmodel"))
    sheet("symbols.png", pictures, labels, range(KNOWN, 10), SYMBOLS)
    _, held, _, held_labels = train_test_split(pictures, labels, test_size=450, stratify=labels, random_state=7)
    sheet("digits.png", held, held_labels, range(10), DIGITS)


if __name__ == "__main__":
    main()
