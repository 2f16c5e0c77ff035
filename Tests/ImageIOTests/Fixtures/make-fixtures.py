#!/usr/bin/env python3
"""Makes the pictures of this folder with Pillow, and beside each what Pillow reads from it or scales it to."""
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image

here = pathlib.Path(__file__).parent
generator = np.random.default_rng(7)
y, x = np.mgrid[0:23, 0:37]
picture = np.stack([x * 6.5, y * 10.5, 255 - (x + y) * 4], -1) + generator.normal(0, 12, (23, 37, 3))
picture = picture.clip(0, 255).astype(np.uint8)
alpha = ((x * 7) % 256).astype(np.uint8)
color = Image.fromarray(picture)
gray = color.convert("L")
transparent = Image.fromarray(np.dstack([picture, alpha]))
gray_alpha = Image.merge("LA", (gray, Image.fromarray(alpha)))


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png16(name, array, kind):
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in array)
    height, width = array.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, 16, kind, 0, 0, 0)
    (here / name).write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )


def expect(name, image):
    image.save(here / "expected" / (name + ".png"))


def write(name, image, **options):
    image.save(here / name, **options)
    read = Image.open(here / name)
    expect(name, read if read.mode in ("L", "LA") else read.convert("RGBA" if "A" in read.mode or read.info.get("transparency") is not None else "RGB"))


(here / "expected").mkdir(exist_ok=True)
write("rgb.png", color)
write("rgba.png", transparent)
write("gray.png", gray)
write("gray-alpha.png", gray_alpha)
write("palette.png", color.quantize(16))
write("palette-transparent.png", color.quantize(16), transparency=3)
write("one-bit.png", gray.convert("1").convert("L").point(lambda v: v).convert("1"))
expect("one-bit.png", Image.open(here / "one-bit.png").convert("L"))
png16("rgb16.png", picture.astype(np.uint32) * 257, 2)
expect("rgb16.png", color)
png16("gray16.png", np.asarray(gray).astype(np.uint32) * 257, 0)
expect("gray16.png", gray)
write("baseline.jpg", color, quality=92)
write("progressive.jpg", color, quality=92, progressive=True)
write("gray.jpg", gray, quality=92)
write("cmyk.jpg", color.convert("CMYK"), quality=95)
write("lossy.webp", color, quality=90)
write("lossless.webp", color, lossless=True)
write("alpha.webp", transparent, lossless=True, exact=True)
for orientation in range(1, 9):
    exif = Image.Exif()
    exif[0x0112] = orientation
    small = color.resize((9, 5), Image.BILINEAR)
    small.save(here / f"orientation-{orientation}.png", exif=exif)
    from PIL import ImageOps
    expect(f"orientation-{orientation}.png", ImageOps.exif_transpose(Image.open(here / f"orientation-{orientation}.png")))
exif = Image.Exif()
exif[0x0112] = 6
color.save(here / "orientation-6.jpg", quality=92, exif=exif)
color.save(here / "orientation-6.webp", lossless=True, exif=exif)

large = Image.fromarray((np.kron(picture, np.ones((5, 5, 1))) + generator.integers(-9, 9, (115, 185, 3))).clip(0, 255).astype(np.uint8))
large.save(here / "large.png")
for width, height in [(224, 224), (64, 48), (37, 23), (3, 200), (185, 20), (20, 115), (1, 1), (370, 230)]:
    expect(f"large-{width}x{height}", large.resize((width, height), Image.BILINEAR))
    expect(f"large-gray-{width}x{height}", large.convert("L").resize((width, height), Image.BILINEAR))
expect("large-box", large.resize((50, 40), Image.BILINEAR, box=(10.5, 7.25, 100.75, 90)))
