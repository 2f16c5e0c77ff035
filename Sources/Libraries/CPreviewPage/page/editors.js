// One editor for each input of the model.
import { arrayEditor } from "./arrays.js";
import { button, h, icon, newId, segmented, shown } from "./elements.js";
import { pictureEditor } from "./picture.js";

/** The editor of an input with its name, type, note and error around it. */
export function field(feature, handlers, { isAlone = false } = {}) {
  const error = h("p", { class: "field-error", role: "alert" });
  const id = newId("input");
  const failed = (text) => { error.textContent = text; };
  const editor = make(feature, { ...handlers, failed }, id);
  const isLabelled = ["string", "number", "integer"].includes(feature.type) || (feature.type === "array" && isSwitch(feature));
  const head = h("div", { class: "field-head" },
    isLabelled ? h("label", { for: id }, feature.name) : h("span", { class: "name" }, feature.name),
    h("span", { class: "field-type" }, feature.text),
  );
  const element = h("div", isLabelled && !feature.choices ? { class: "field" } : { class: "field", role: "group", "aria-label": feature.name }, isAlone && feature.type === "image" ? null : head,
    feature.description ? h("p", { class: "field-note" }, feature.description) : null, editor.element, error);
  return Object.assign(Object.create(editor), { element, failed, feature, editor });
}

function make(feature, handlers, id) {
  switch (feature.type) {
    case "image": return pictureEditor(feature, handlers);
    case "string": return feature.choices ? choiceEditor(feature, handlers, id) : textEditor(feature, handlers, id);
    case "number": return numberEditor(feature, handlers, id, false);
    case "integer": return feature.choices ? choiceEditor(feature, handlers, id) : numberEditor(feature, handlers, id, true);
    case "dictionary": return pairsEditor(feature, handlers);
    case "sequence": return itemsEditor(feature, handlers);
    case "array": return isSwitch(feature) ? numberEditor(feature, handlers, id, feature.scalar.startsWith("int")) : arrayEditor(feature, handlers);
    default: return { element: h("p", { class: "soft" }, "This page has no editor for it."), isReady: false };
  }
}

/** Whether an array is one number. */
const isSwitch = (feature) => !feature.flexible && feature.shape.reduce((product, extent) => product * extent, 1) === 1;

function textEditor(feature, { changed }, id) {
  const area = h("textarea", { id, rows: 4, value: "", placeholder: "Write or paste a text", oninput: () => changed({ isTyped: true }) });
  return {
    element: area,
    get isReady() { return area.value !== "" || (feature.isTouched && !feature.optional); },
    get text() { return area.value; },
    put: () => ({ form: "text", value: area.value }),
  };
}

function choiceEditor(feature, { changed }, id) {
  const select = h("select", { id, onchange: () => changed() }, feature.optional ? h("option", { value: "" }, "—") : null,
    feature.choices.map((choice) => h("option", { value: String(choice) }, String(choice))));
  return { element: select, get isReady() { return select.value !== ""; }, put: () => ({ form: "text", value: select.value }) };
}

/** A sensible range of a number: what the file compares it with, else around 0. */
function rangeOf(feature, isInteger) {
  if (feature.range) {
    let [low, high] = feature.range;
    const margin = (high - low) * 0.15 || Math.abs(low) * 0.5 || 1;
    [low, high] = [low >= 0 ? Math.max(low - margin, 0) : low - margin, high + margin];
    const scale = 10 ** Math.floor(Math.log10(Math.max(high - low, 1e-9)) - 1);
    return [Math.floor(low / scale) * scale, Math.ceil(high / scale) * scale].map((number) => Number(number.toPrecision(6)));
  }
  const name = feature.name.toLowerCase();
  if (/(iou|confidence|threshold|prob)/.test(name)) return [0, 1];
  if (name === "k" || feature.role === "count") return [1, 20];
  return isInteger ? [0, 100] : [-10, 10];
}

function numberEditor(feature, { changed }, id, isInteger) {
  const [min, max] = rangeOf(feature, isInteger);
  const span = max - min;
  const step = isInteger ? 1 : Number((10 ** Math.floor(Math.log10(span / 100))).toPrecision(1));
  const isThreshold = max === 1 && min === 0;
  const start = feature.role === "count" ? 5 : isThreshold ? (/(iou)/.test(feature.name.toLowerCase()) ? 0.45 : 0.25) : feature.range ? Number(((feature.range[0] + feature.range[1]) / 2).toPrecision(isInteger ? 12 : 3)) : isInteger ? 1 : 0;
  const value = isInteger ? Math.round(start) : start;
  const exact = h("input", { type: "number", id, step: isInteger ? 1 : "any", value: feature.optional ? "" : String(value), placeholder: feature.optional ? "default" : "",
    oninput: () => { if (exact.value !== "") range.value = exact.value; changed({ isTyped: true }); } });
  const range = h("input", { type: "range", min, max, step, value, "aria-label": `${feature.name}, slider`,
    oninput: () => { exact.value = String(Number(Number(range.value).toPrecision(8))); changed({ isTyped: true }); } });
  return {
    element: h("div", { class: "number" }, range, exact),
    get isReady() { return exact.value !== "" && Number.isFinite(Number(exact.value)); },
    set: (number) => { exact.value = String(number); range.value = String(number); },
    put: () => {
      const number = Number(exact.value);
      if (feature.type === "array") return { form: "json", value: [number] };
      return { form: "json", value: isInteger && !Number.isInteger(number) ? Math.round(number) : number };
    },
  };
}

/** Items with a number each: who chose what, how often a word stands. */
function pairsEditor(feature, { changed, failed }) {
  const pairs = new Map();
  const chips = h("div", { class: "item-chips" });
  const list = newId("items");
  const name = h("input", { type: "text", list, "aria-label": `${feature.name}: an item`, placeholder: feature.choices ? "An item" : feature.keys === "integer" ? "A number, such as 7" : "A word" });
  const amount = h("input", { type: "number", step: "any", value: "1", "aria-label": `${feature.name}: its number` });
  const add = () => {
    const key = name.value.trim();
    if (!key) return;
    if (feature.keys === "integer" && !/^-?\d+$/.test(key)) { failed("The keys are whole numbers."); return; }
    failed("");
    pairs.set(key, Number(amount.value) || 0);
    name.value = "";
    draw();
    changed();
    name.focus();
  };
  function draw() {
    chips.replaceChildren(...[...pairs].map(([key, number]) => h("span", { class: "item-chip" }, number === 1 ? key : `${key} · ${shown(number)}`,
      h("button", { type: "button", "aria-label": `Remove ${key}`, onclick: () => { pairs.delete(key); draw(); changed(); } }, "×"))));
  }
  const onEnter = (event) => { if (event.key === "Enter") { event.preventDefault(); add(); } };
  name.addEventListener("keydown", onEnter);
  amount.addEventListener("keydown", onEnter);
  return {
    element: h("div", { class: "field" }, chips, h("div", { class: "number" }, name, amount),
      feature.choices ? h("datalist", { id: list }, feature.choices.slice(0, 3000).map((choice) => h("option", { value: String(choice) }))) : null,
      h("div", { class: "buttons" }, button("Add", "plus", add))),
    get isReady() { return pairs.size > 0; },
    put: () => ({ form: "json", value: Object.fromEntries(pairs) }),
  };
}

function itemsEditor(feature, { changed, failed }) {
  const items = [];
  const chips = h("div", { class: "item-chips" });
  const list = newId("items");
  const name = h("input", { type: "text", list, "aria-label": `${feature.name}: an element`, placeholder: "Write and press Enter" });
  function draw() {
    chips.replaceChildren(...items.map((item, index) => h("span", { class: "item-chip" }, String(item),
      h("button", { type: "button", "aria-label": `Remove ${item}`, onclick: () => { items.splice(index, 1); draw(); changed(); } }, "×"))));
  }
  name.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !name.value.trim()) return;
    event.preventDefault();
    if (feature.elements === "integer" && !/^-?\d+$/.test(name.value.trim())) { failed("The elements are whole numbers."); return; }
    failed("");
    items.push(feature.elements === "integer" ? Number(name.value) : name.value.trim());
    name.value = "";
    draw();
    changed();
  });
  return {
    element: h("div", { class: "field" }, chips, name, feature.choices ? h("datalist", { id: list }, feature.choices.slice(0, 3000).map((choice) => h("option", { value: String(choice) }))) : null),
    get isReady() { return items.length > 0; },
    put: () => ({ form: "json", value: items }),
  };
}

/** An editor for a table of rows, or any other file that is asked about as a whole. */
export function fileEditor({ accept, hint, image = "table", choose = "Choose a file" }, { changed, failed }) {
  const state = { file: null };
  const chooser = h("input", { type: "file", accept, class: "unseen", tabindex: "-1", "aria-hidden": "true",
    onchange: () => { if (chooser.files[0]) take(chooser.files[0]); chooser.value = ""; } });
  const caption = h("p", { class: "caption" });
  const zone = h("div", { class: "drop small",
    ondragover: (event) => { event.preventDefault(); zone.classList.add("over"); },
    ondragleave: () => zone.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); zone.classList.remove("over"); if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]); } },
  h("div", { class: "drop-hint" }, icon(image, "big"), h("p", {}, hint), button(choose, null, () => chooser.click(), "primary"), caption));
  function take(file) {
    failed("");
    state.file = file;
    caption.textContent = file.name;
    changed();
  }
  return {
    element: h("div", { class: "field" }, zone, chooser),
    get isReady() { return state.file !== null; },
    file: async (parcel) => ({ name: state.file.name, ...parcel.add(await state.file.arrayBuffer()) }),
    take,
  };
}
