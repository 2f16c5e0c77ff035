#!/usr/bin/env python3
"""Makes the pictures of this folder with Pillow (13.0; HEIC with pillow-heif 1.8), and beside each what Pillow reads from it or
scales it to."""
import pathlib
import struct
import zlib

import numpy as np
import pillow_heif
from PIL import Image

pillow_heif.register_heif_opener()

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


def read_back(name):
    """Pillow's reading of a file, as grey, RGB or RGBA."""
    read = Image.open(here / name)
    has_alpha = "A" in read.mode or read.info.get("transparency") is not None
    expect(name, read.convert("L") if read.mode in ("1", "L") else read.convert("RGBA" if has_alpha else "RGB"))


def tiff(name, order, array, tags, chunks):
    """A TIFF file with the tags that `tags` adds, whose strips or tiles are `chunks`; samples as `array` has them."""
    height, width = array.shape[:2]
    samples = array.shape[2] if array.ndim == 3 else 1
    bits = array.dtype.itemsize * 8
    is_tiled = 322 in tags
    data, places, sizes = b"", [], []
    for piece in chunks:
        places.append(8 + len(data))
        sizes.append(len(piece))
        data += piece + b"\0" * (len(piece) % 2)
    fields = {256: ("I", [width]), 257: ("I", [height]), 258: ("H", [bits] * samples), 259: ("H", [1]),
              262: ("H", [2 if samples > 2 else 1]), 277: ("H", [samples]), 284: ("H", [1])}
    fields.update({324: ("I", places), 325: ("I", sizes)} if is_tiled else
                  {273: ("I", places), 278: ("I", [height]), 279: ("I", sizes)})
    fields.update(tags)
    start, entries, tail = 8 + len(data), b"", b""
    behind = start + 2 + 12 * len(fields) + 4
    for tag, (kind, values) in sorted(fields.items()):
        packed = struct.pack(f"{order}{len(values)}{kind}", *values)
        if len(packed) > 4:
            place = struct.pack(order + "I", behind + len(tail))
            tail += packed + b"\0" * (len(packed) % 2)
        else:
            place = packed.ljust(4, b"\0")
        entries += struct.pack(order + "HHI", tag, {"H": 3, "I": 4}[kind], len(values)) + place
    head = {"<": b"II", ">": b"MM"}[order] + struct.pack(order + "HI", 42, start)
    directory = struct.pack(order + "H", len(fields)) + entries + struct.pack(order + "I", 0)
    (here / name).write_bytes(head + data + directory + tail)


gray_array, rgba_array = np.asarray(gray), np.dstack([picture, alpha])
write("rgb.tif", color, compression="tiff_lzw")
write("rgba.tif", transparent, compression="tiff_adobe_deflate")
write("gray.tif", gray)
write("palette.tif", color.quantize(16), compression="packbits")
color.convert("1").save(here / "one-bit.tif", compression="group4")
read_back("one-bit.tif")
write("cmyk.tif", color.convert("CMYK"))
write("jpeg.tif", color, compression="jpeg", quality=95)
color.save(here / "pages.tif", save_all=True, append_images=[gray, color.resize((9, 5))])
expect("pages.tif", color)
color.save(here / "orientation-6.tif", tiffinfo={0x0112: 6})
tiff("gray16.tif", "<", gray_array.astype("<u2"), {}, [(gray_array.astype("<u2") * 257).tobytes()])
expect("gray16.tif", gray)
tiff("rgb16.tif", ">", picture.astype(">u2"), {}, [(picture.astype(np.uint32) * 257).astype(">u2").tobytes()])
expect("rgb16.tif", color)
tiff("planes.tif", "<", picture, {284: ("H", [2])}, [np.ascontiguousarray(picture[..., part]).tobytes() for part in range(3)])
read_back("planes.tif")
padded = np.zeros((32, 48, 3), np.uint8)
padded[:23, :37] = picture
tiff("tiles.tif", ">", picture, {322: ("I", [16]), 323: ("I", [16])},
     [padded[y:y + 16, x:x + 16].tobytes() for y in (0, 16) for x in (0, 16, 32)])
read_back("tiles.tif")
premultiplied = np.dstack([(picture.astype(int) * alpha[..., None] + 127) // 255, alpha]).astype(np.uint8)
tiff("associated.tif", "<", premultiplied, {338: ("H", [1])}, [premultiplied.tobytes()])
tiff("float.tif", "<", gray_array.astype("<f4"), {339: ("H", [3])}, [gray_array.astype("<f4").tobytes()])

write("palette.gif", color.quantize(64))
write("interlaced.gif", color.quantize(64), interlace=True)
gray.save(here / "gray.gif")
expect("gray.gif", gray)
write("transparent.gif", color.quantize(32), transparency=3)
color.quantize(32).save(here / "animated.gif", save_all=True, duration=40,
                        append_images=[Image.fromarray(255 - picture).quantize(32)])
read_back("animated.gif")
color.resize((20, 10)).quantize(32).save(here / "offset.gif", transparency=5, interlace=False)
offset = bytearray((here / "offset.gif").read_bytes())
offset[6:10] = struct.pack("<HH", 37, 23)
place = offset.index(b",", 13 + 3 * (2 << (offset[10] & 7)))
offset[place + 1:place + 5] = struct.pack("<HH", 5, 4)
(here / "offset.gif").write_bytes(offset)
read_back("offset.gif")


def bmp(name, bits, rows, compression=0, palette=b"", masks=b"", size=(37, 23)):
    """A BMP file with the older header."""
    offset = 54 + len(masks) + len(palette)
    header = struct.pack("<IiiHHIIiiII", 40, *size, 1, bits, compression, len(rows), 0, 0, len(palette) // 4, 0)
    (here / name).write_bytes(b"BM" + struct.pack("<IHHI", offset + len(rows), 0, 0, offset) + header + masks + palette + rows)


def lines(array):
    """Rows from the bottom, padded to words."""
    return b"".join(row.tobytes() + b"\0" * (-len(row.tobytes()) % 4) for row in array[::-1])


def run_lengths(array):
    """Runs of equal bytes, literal runs, a jump over the last rows' rest, and the end."""
    result = b""
    for row in array[::-1]:
        result += bytes([0, 5]) + row[:5].tobytes() + b"\0"
        for value in row[5:].tolist():
            result += bytes([1, value])
        result += b"\0\0"
    return result + b"\0\1"


write("rgb.bmp", color)
write("gray.bmp", gray)
write("palette.bmp", color.quantize(64))
color.convert("1").save(here / "one-bit.bmp")
read_back("one-bit.bmp")
write("rgba.bmp", transparent)
quantized = color.quantize(16)
table = b"".join(bytes([*quantized.getpalette()[3 * i:3 * i + 3][::-1], 0]) for i in range(16))
indices = np.asarray(quantized)
halves = np.pad(indices, ((0, 0), (0, 1)))
bmp("four-bit.bmp", 4, lines((halves[:, ::2] << 4 | halves[:, 1::2]).astype(np.uint8)), palette=table)
read_back("four-bit.bmp")
bmp("runs.bmp", 8, run_lengths(indices), compression=1, palette=table)
read_back("runs.bmp")
wide = picture.astype(np.uint16)
short = (wide[..., 0] >> 3 << 11 | wide[..., 1] >> 2 << 5 | wide[..., 2] >> 3).astype("<u2")
bmp("fields.bmp", 16, lines(short), compression=3, masks=struct.pack("<3I", 0xF800, 0x7E0, 0x1F))
read_back("fields.bmp")
bmp("top-down.bmp", 24, lines(picture[::-1, :, ::-1]), size=(37, -23))
expect("top-down.bmp", color)

write("color.heic", color, quality=90, chroma=444)
write("subsampled.heic", large.resize((64, 48)), quality=90)
write("alpha.heic", transparent, quality=95, chroma=444)


def turned(file, quarters):
    """A HEIF file whose picture is turned anticlockwise by so many quarters when it is shown: a property more (irot), for
    the first item, as phones write it beside the number of Exif."""
    data = bytearray(file)
    added = b"\0\0\0\x09irot" + bytes([quarters])

    def box(name, start, end):
        while start < end:
            size, = struct.unpack_from(">I", data, start)
            if data[start + 4:start + 8] == name:
                return start, start + size
            start += size
        raise ValueError(f"no box {name}")

    def grow(place, count):
        struct.pack_into(">I", data, place, struct.unpack_from(">I", data, place)[0] + count)

    meta, meta_end = box(b"meta", 0, len(data))
    iloc, _ = box(b"iloc", meta + 12, meta_end)
    version, sizes, count = data[iloc + 8], data[iloc + 12:iloc + 14], struct.unpack_from(">H", data, iloc + 14)[0]
    assert version == 0 and bytes(sizes) == b"\x44\x40", "each item has a place and extents from there, of 4 bytes each"
    place = iloc + 16
    for _ in range(count):
        grow(place + 4, len(added) + 1)
        place += 10 + 8 * struct.unpack_from(">H", data, place + 8)[0]
    iprp, iprp_end = box(b"iprp", meta + 12, meta_end)
    ipco, ipco_end = box(b"ipco", iprp + 8, iprp_end)
    ipma, _ = box(b"ipma", iprp + 8, iprp_end)
    properties, place = 0, ipco + 8
    while place < ipco_end:
        properties, place = properties + 1, place + struct.unpack_from(">I", data, place)[0]
    for place, count in [(meta, len(added) + 1), (iprp, len(added) + 1), (ipco, len(added)), (ipma, 1)]:
        grow(place, count)
    # The first item's associations end behind its count: the new one is essential.
    first = ipma + 18
    data[first] += 1
    data.insert(first + data[first], 0x80 | properties + 1)
    data[ipco_end:ipco_end] = added
    return bytes(data)


exif = Image.Exif()
exif[0x0112] = 6
path = here / "orientation-6.heic"
color.save(path, quality=95, chroma=444, exif=exif)
path.write_bytes(turned(path.read_bytes(), 3))
expect("orientation-6.heic", Image.open(path).convert("RGB"))
assert Image.open(path).size == (23, 37)
