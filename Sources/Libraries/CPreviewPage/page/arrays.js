// Editors of arrays: JSON, NumPy files, pictures, random numbers and zeros.
import { h, button, icon, newId, segmented, shown } from "./elements.js";
import { pictureEditor } from "./picture.js";

const countOf = (shape) => shape.reduce((product, extent) => product * extent, 1);

/** Rows, columns and channels, when an array's shape is that of a picture. */
export function pictureShape(shape) {
  const inner = shape.filter((extent, index) => extent !== 1 || index >= shape.length - 2);
  if (inner.length === 2 && inner[0] >= 8 && inner[1] >= 8 && Math.max(...inner) / Math.min(...inner) <= 4) return { height: inner[0], width: inner[1], channels: 1, isLast: false };
  if (inner.length !== 3) return null;
  if (inner[0] === 3 && inner[1] >= 8 && inner[2] >= 8) return { height: inner[1], width: inner[2], channels: 3, isLast: false };
  if (inner[2] === 3 && inner[0] >= 8 && inner[1] >= 8) return { height: inner[0], width: inner[1], channels: 3, isLast: true };
  return null;
}

function parseShape(text) {
  const extents = text.split(/[\s,×x[\]]+/).filter(Boolean).map(Number);
  return extents.length && extents.every((extent) => Number.isInteger(extent) && extent >= 0) ? extents : null;
}

export function arrayEditor(feature, handlers) {
  const { changed, failed } = handlers;
  const isInteger = feature.scalar.startsWith("int");
  let shape = feature.shape;
  const picture = pictureShape(shape);
  const state = { json: null, file: null, numbers: null, kind: "" };
  const note = h("p", { class: "caption", "aria-live": "polite" });
  const area = h("textarea", { class: "mono", rows: 4, spellcheck: "false", "aria-label": `${feature.name} in JSON`, placeholder: placeholder(), oninput: () => readText() });
  const chooser = h("input", { type: "file", accept: ".npy,.npz,.json", class: "unseen", tabindex: "-1", "aria-hidden": "true",
    onchange: () => { if (chooser.files[0]) takeFile(chooser.files[0]); chooser.value = ""; } });
  let drawing = null;

  function placeholder() {
    return countOf(shape) <= 64 ? `[${Array.from({ length: Math.min(countOf(shape), 8) }, () => (isInteger ? "1" : "0.5")).join(", ")}${countOf(shape) > 8 ? ", …" : ""}]` : "Nested lists in JSON, or drop a .npy file";
  }
  function forget() { Object.assign(state, { json: null, file: null, numbers: null, kind: "" }); }
  function readText() {
    forget();
    failed("");
    const text = area.value.trim();
    if (!text) { note.textContent = ""; changed(); return; }
    try {
      state.json = JSON.parse(text.startsWith("[") ? text : `[${text}]`);
      state.kind = "json";
      note.textContent = "";
    } catch {
      failed("That is no JSON yet: lists of numbers in brackets, such as [1, 2.5, 3].");
      return;
    }
    changed({ isTyped: true });
  }
  async function takeFile(file) {
    forget();
    failed("");
    if (file.name.endsWith(".json")) { area.value = await file.text(); readText(); return; }
    const form = file.name.endsWith(".npz") ? "npz" : "npy";
    if (form === "npy" && !file.name.endsWith(".npy")) { failed(`'${file.name}' is no array: drop a .npy, .npz or .json file.`); return; }
    state.file = { form, file: file.name, bytes: await file.arrayBuffer() };
    state.kind = "file";
    area.value = "";
    note.textContent = file.name;
    changed();
  }
  function fill(name, make) {
    forget();
    failed("");
    const count = countOf(shape);
    if (count > 1 << 26) { failed("That is too large to make here; drop a .npy file."); return; }
    const Type = isInteger ? Int32Array : Float32Array;
    state.numbers = Type.from({ length: count }, make);
    state.kind = "numbers";
    note.textContent = `${name}, ${count} elements`;
    area.value = count <= 64 ? `[${[...state.numbers].map((number) => shown(number, 4).replace("−", "-")).join(", ")}]` : "";
    changed();
  }
  const shapeId = newId("shape");
  const shapeField = feature.shapes
    ? h("select", { id: shapeId, onchange: () => { shape = JSON.parse(shapeField.value); } }, feature.shapes.map((each) => h("option", { value: JSON.stringify(each) }, each.join(" × "))))
    : h("input", { type: "text", id: shapeId, class: "mono", value: shape.join(", "), onchange: () => {
      const read = parseShape(shapeField.value);
      if (!read) { failed("A shape is a list of whole numbers, such as 1, 3, 224, 224."); return; }
      shape = read;
      failed("");
    } });
  const plain = h("div", { class: "field",
    ondragover: (event) => event.preventDefault(),
    ondrop: (event) => { if (event.dataTransfer.files[0]) { event.preventDefault(); takeFile(event.dataTransfer.files[0]); } } },
  feature.flexible ? h("div", { class: "control" }, h("label", { for: shapeId }, "Shape"), shapeField) : null, area,
  h("div", { class: "buttons spread" }, h("div", { class: "buttons" },
    button("File", "array", () => chooser.click()),
    button("Random", "dice", () => fill("Random", () => (isInteger ? Math.floor(Math.random() * 10) : Math.random() * 2 - 1))),
    button("Ramp", null, () => { const count = countOf(shape); fill("From 0 to 1", (_, index) => (isInteger ? index % 100 : index / Math.max(count - 1, 1))); }, "quiet"),
    button("Zeros", null, () => fill("Zeros", () => 0), "quiet")), note), chooser);

  let element = plain;
  if (picture && !isInteger) {
    // An array of a picture's shape takes pictures, too.
    const like = { ...feature, width: picture.width, height: picture.height, gray: picture.channels === 1 };
    drawing = pictureEditor(like, handlers);
    let range = "1";
    const rangeId = newId("range");
    const ranges = h("select", { id: rangeId, onchange: () => { range = ranges.value; if (drawing.isReady) changed(); } },
      h("option", { value: "1" }, "0 … 1"), h("option", { value: "255" }, "0 … 255"), h("option", { value: "-1" }, "−1 … 1"));
    const asPicture = h("div", { class: "field" }, drawing.element, h("div", { class: "buttons" }, h("label", { class: "small soft", for: rangeId }, "Black to white become"), ranges));
    plain.hidden = true;
    let isPicture = true;
    element = h("div", { class: "field" }, segmented("Form of the array", [["picture", "As an image", "picture"], ["numbers", "As numbers", "array"]], "picture", (mode) => {
      isPicture = mode === "picture";
      asPicture.hidden = !isPicture;
      plain.hidden = isPicture;
    }), asPicture, plain);
    const values = () => {
      const pixels = drawing.samples(picture.width, picture.height);
      const area = picture.width * picture.height;
      const result = new Float32Array(area * picture.channels);
      const scaled = (value) => (range === "255" ? value : range === "1" ? value / 255 : value / 127.5 - 1);
      for (let pixel = 0; pixel < area; pixel += 1) {
        const [red, green, blue] = [pixels[pixel * 4], pixels[pixel * 4 + 1], pixels[pixel * 4 + 2]];
        if (picture.channels === 1) result[pixel] = scaled(0.299 * red + 0.587 * green + 0.114 * blue);
        else for (const [channel, value] of [red, green, blue].entries()) result[picture.isLast ? pixel * 3 + channel : channel * area + pixel] = scaled(value);
      }
      return result;
    };
    return {
      element,
      get isReady() { return isPicture ? drawing.isReady : state.kind !== ""; },
      get bitmap() { return isPicture ? drawing.bitmap : null; },
      snapshot: () => drawing.snapshot(),
      put: (parcel) => (isPicture ? { form: "numbers", scalar: "float32", shape, ...parcel.add(values()) } : put(parcel)),
    };
  }
  function put(parcel) {
    if (state.kind === "json") return { form: "json", value: state.json };
    if (state.kind === "file") return { form: state.file.form, file: state.file.file, ...parcel.add(state.file.bytes) };
    return { form: "numbers", scalar: isInteger ? "int32" : "float32", shape, ...parcel.add(state.numbers) };
  }
  return { element, get isReady() { return state.kind !== ""; }, put, fill };
}
