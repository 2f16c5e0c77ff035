"""Trains and writes the digits fixture: a small classifier of handwritten digits and scans that it has not seen.

Run with the Python of Oracles/Shared/environment.  The scans are scikit-learn's bundled digits, 8×8 grey, scaled to 28×28,
white ink on black.  Writes, beside this file, `Digits.mlpackage` (ML program, float16), `Digits.mlmodel` (neural
network, float32), `held-out/*.png` (ten scans of each digit) and `held-out/labels.csv` (file, label, and what PyTorch
answers: the predicted label and its probability).
"""
import csv
import pathlib
import shutil

import coremltools as ct
import numpy as np
import torch
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

HERE = pathlib.Path(__file__).parent
SIDE = 28
PER_DIGIT = 10


def scans():
    """Pictures [n 1 28 28] with values 0…255, whole numbers, and their labels."""
    digits = load_digits()
    pictures = [
        np.asarray(Image.fromarray((scan * 255 / 16).round().astype(np.uint8)).resize((SIDE, SIDE), Image.BICUBIC))
        for scan in digits.images]
    return np.stack(pictures)[:, None].astype(np.float32), digits.target


class Digits(nn.Module):
    """Pixels scaled to 0…1, [n 1 28 28] → probabilities [n 10]."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(24 * 9, 48), nn.ReLU(), nn.Dropout(0.3), nn.Linear(48, 10))

    def forward(self, x):
        return torch.softmax(self.body(x), 1)


def train(pictures, labels, epochs=60):
    """Adam on pictures shifted by up to two pixels; the learning rate falls along a cosine."""
    model = Digits()
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    x, y = torch.from_numpy(pictures / 255), torch.from_numpy(labels)
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(32):
            shifted = torch.roll(x[rows], tuple(torch.randint(-2, 3, (2,)).tolist()), (2, 3))
            loss = nn.functional.nll_loss(torch.log(model(shifted) + 1e-9), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    return model.eval()


def describe(converted, accuracy):
    converted.author = "The swift-coreml authors"
    converted.license = "Apache-2.0"
    converted.version = "1.0"
    converted.short_description = (
        f"Recognises a handwritten digit. {accuracy:.1%} right on 450 held-out scans of scikit-learn's digits.")
    converted.input_description["image"] = "A grey picture of one digit, white ink on black"
    converted.output_description["digit"] = "The most likely digit"


def export(model, accuracy):
    trace = torch.jit.trace(model, torch.rand(1, 1, SIDE, SIDE))
    image = ct.ImageType("image", (1, 1, SIDE, SIDE), scale=1 / 255, color_layout=ct.colorlayout.GRAYSCALE)
    classes = ct.ClassifierConfig([str(digit) for digit in range(10)], predicted_feature_name="digit")
    for file, options in (
            ("Digits.mlpackage", dict(convert_to="mlprogram", minimum_deployment_target=ct.target.iOS16)),
            ("Digits.mlmodel", dict(convert_to="neuralnetwork"))):
        converted = ct.convert(trace, inputs=[image], classifier_config=classes, skip_model_load=True, **options)
        specification = converted.get_spec()
        ct.utils.rename_feature(specification, specification.description.predictedProbabilitiesName, "probabilities")
        converted = ct.models.MLModel(specification, weights_dir=converted.weights_dir, skip_model_load=True)
        describe(converted, accuracy)
        shutil.rmtree(HERE / file, ignore_errors=True)
        converted.save(str(HERE / file))


def main():
    torch.manual_seed(7)
    torch.set_num_threads(1)
    pictures, labels = scans()
    kept, held, kept_labels, held_labels = train_test_split(
        pictures, labels, test_size=450, stratify=labels, random_state=7)
    model = train(kept, kept_labels)
    with torch.no_grad():
        probabilities = model(torch.from_numpy(held / 255)).numpy()
    accuracy = float((probabilities.argmax(1) == held_labels).mean())
    print(f"{accuracy:.2%} of {len(held)} held-out scans right")
    assert accuracy >= 0.97
    export(model, accuracy)

    folder = HERE / "held-out"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with open(folder / "labels.csv", "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["file", "label", "predicted", "probability"])
        for digit in range(10):
            for number, row in enumerate(np.flatnonzero(held_labels == digit)[:PER_DIGIT]):
                name = f"{digit}-{number}.png"
                Image.fromarray(held[row, 0].astype(np.uint8), "L").save(folder / name, optimize=True)
                table.writerow([name, digit, probabilities[row].argmax(), f"{probabilities[row].max():.6f}"])


if __name__ == "__main__":
    main()
