// Teaching an updatable model: examples for each label, what it learns, before and after.
import { events, Parcel, post } from "./exchange.js";
import { announce, button, h, icon, milliseconds, newId, shown } from "./elements.js";
import { field } from "./editors.js";
import { bitmapOf } from "./picture.js";
import { linePlot } from "./plots.js";

/** The panel of lessons; `taught` is called when the model has learnt or forgotten. */
export function teachingPanel(model, { taught }) {
  const features = model.training;
  const inputNames = new Set(model.inputs.map((input) => input.name));
  const target = features.find((feature) => !inputNames.has(feature.name)) ?? features[features.length - 1];
  const shownFeatures = features.filter((feature) => feature !== target);
  const isLabelled = target.type === "string" || target.type === "integer";
  const error = h("p", { class: "field-error", role: "alert" });
  const examples = [];
  const onlyPicture = shownFeatures.length === 1 && shownFeatures[0].type === "image" ? shownFeatures[0] : null;

  const fields = shownFeatures.map((feature) => field({ ...feature, optional: false }, { changed: () => {}, live: async () => {} }, { isAlone: onlyPicture !== null }));
  const targetField = isLabelled ? null : field({ ...target, optional: false }, { changed: () => {}, live: async () => {} });

  // The labels, each with its examples.
  const cards = h("div", { class: "labels" });
  const labels = new Map();
  const labelId = newId("label");
  const labelName = h("input", { type: "text", id: labelId, placeholder: target.type === "integer" ? "A number" : "A new label", onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); addLabel(); } } });

  function addLabel(name = labelName.value.trim()) {
    if (!name || labels.has(name)) return;
    if (target.type === "integer" && !/^-?\d+$/.test(name)) { error.textContent = "The labels of this model are whole numbers."; return; }
    error.textContent = "";
    const thumbs = h("div", { class: "thumbs" });
    const count = h("span", { class: "caption" }, "no examples");
    const card = h("div", { class: "label-card", role: "group", "aria-label": `Label ${name}`,
      ondragover: (event) => { event.preventDefault(); card.classList.add("over"); },
      ondragleave: () => card.classList.remove("over"),
      ondrop: (event) => { event.preventDefault(); card.classList.remove("over"); for (const file of event.dataTransfer.files) addFile(name, file); } },
    h("div", { class: "buttons spread" }, h("h3", {}, name), count), thumbs,
    h("div", { class: "buttons" }, button("Add example", "plus", () => addPresent(name)), onlyPicture ? fileButton(name) : null));
    labels.set(name, { card, thumbs, count });
    cards.append(card);
    labelName.value = "";
  }

  function fileButton(name) {
    const chooser = h("input", { type: "file", accept: "image/*,.heic", multiple: true, class: "unseen", tabindex: "-1", "aria-hidden": "true",
      onchange: () => { for (const file of chooser.files) addFile(name, file); chooser.value = ""; } });
    return h("span", {}, button("Files", "picture", () => chooser.click(), "quiet"), chooser);
  }

  async function addFile(name, file) {
    if (!onlyPicture) return;
    try {
      const bitmap = await bitmapOf(file);
      add(name, bitmap, async (parcel) => ({ [onlyPicture.name]: { form: "picture", ...parcel.add(await file.arrayBuffer()) } }));
    } catch (problem) { error.textContent = `${file.name}: ${problem.message}`; }
  }

  async function addPresent(name) {
    const missing = [...fields, ...(targetField ? [targetField] : [])].find((each) => !each.editor.isReady);
    if (missing) { missing.failed("An example needs a value here."); return; }
    fields.forEach((each) => each.failed(""));
    // The value as it is now, though the editor goes on.
    const kept = new Parcel();
    const values = {};
    for (const each of fields) {
      if (each.feature.type === "image") {
        const { blob } = await each.editor.snapshot();
        values[each.feature.name] = (parcel) => blob.arrayBuffer().then((bytes) => ({ form: "picture", fit: each.editor.fit, ...parcel.add(bytes) }));
      } else {
        const value = await each.editor.put(kept);
        if (value.form === "json" || value.form === "text") values[each.feature.name] = async () => value;
        else {
          const own = new Parcel();
          const copy = await each.editor.put(own);
          const bytes = own.bytes({}).slice(8).slice(0, copy.length);
          values[each.feature.name] = async (parcel) => ({ ...copy, ...parcel.add(bytes) });
        }
      }
    }
    if (targetField) { const value = await targetField.editor.put(kept); values[target.name] = async () => value; }
    const bitmap = onlyPicture ? fields[0].editor.bitmap : null;
    add(name, bitmap, async (parcel) => Object.fromEntries(await Promise.all(Object.entries(values).map(async ([key, make]) => [key, await make(parcel)]))));
    if (onlyPicture) fields[0].editor.clear?.();
  }

  function add(name, bitmap, put) {
    error.textContent = "";
    const example = { name, put };
    examples.push(example);
    const place = labels.get(name);
    let inside = "•";
    if (bitmap) {
      inside = h("canvas", { width: 64, height: 64 });
      inside.getContext("2d").drawImage(bitmap, 0, 0, 64, 64);
    }
    const thumb = h("button", { type: "button", class: "thumb", "aria-label": `Remove an example of ${name}`, onclick: () => { examples.splice(examples.indexOf(example), 1); thumb.remove(); tell(); } }, inside);
    const tell = () => {
      const count = examples.filter((each) => each.name === name).length;
      place.count.textContent = count ? `${count} ${count === 1 ? "example" : "examples"}` : "no examples";
      teach.disabled = examples.length === 0;
    };
    place.thumbs.append(thumb);
    tell();
    announce(`An example of ${name}`);
  }

  // The lesson.
  const learning = model.facts.learning?.parameters ?? {};
  const options = {};
  const optionFields = Object.entries({ epochs: "Epochs", learningRate: "Learning rate", miniBatchSize: "Mini-batch", numberOfNeighbors: "Neighbours" })
    .filter(([key]) => learning[key]).map(([key, name]) => {
      const id = newId("option");
      const input = h("input", { type: "number", id, step: "any", value: String(learning[key].default), min: learning[key].minimum, max: learning[key].maximum, oninput: () => { options[key] = input.value === "" ? undefined : Number(input.value); } });
      return h("div", { class: "control" }, h("label", { for: id }, name), input);
    });
  const progress = h("div", {});
  const share = h("div", { class: "progress", role: "progressbar", "aria-label": "Learning", "aria-valuemin": "0", "aria-valuemax": "100" }, h("div", {}));
  const status = h("p", { class: "soft", role: "status" });
  const plot = h("div", {});
  let controller = null;
  const teach = button("Teach", "teach", async () => {
    if (controller) { controller.abort(); return; }
    error.textContent = "";
    const parcel = new Parcel();
    const list = [];
    for (const example of examples) {
      const inputs = await example.put(parcel);
      if (isLabelled) inputs[target.name] = target.type === "integer" ? { form: "json", value: Number(example.name) } : { form: "text", value: example.name };
      list.push(inputs);
    }
    controller = new AbortController();
    teach.lastChild.textContent = "Stop";
    progress.replaceChildren(share, status, plot);
    plot.replaceChildren();
    const losses = [];
    let total = 1;
    const step = (fraction) => { share.firstChild.style.setProperty("--share", `${fraction * 100}%`); share.setAttribute("aria-valuenow", String(Math.round(fraction * 100))); };
    step(0);
    try {
      await events("/api/teach", parcel.bytes({ examples: list, options }), (name, data) => {
        if (name === "begin") { total = data.epochs; status.textContent = `Learning from ${data.examples} ${data.examples === 1 ? "example" : "examples"}`; }
        if (name === "batch") step(data.fraction);
        if (name === "epoch") {
          losses.push(data.loss);
          step(data.fraction);
          status.textContent = `Epoch ${data.epoch + 1} of ${total}, loss ${shown(data.loss)}`;
          if (losses.length > 1) plot.replaceChildren(linePlot(losses, "The loss after each epoch", { asBars: false }));
        }
        if (name === "failed") error.textContent = data.error;
        if (name === "done") {
          step(1);
          status.textContent = losses.length > 1 ? `Learnt in ${milliseconds(data.seconds * 1000)}: loss from ${shown(losses[0])} to ${shown(losses[losses.length - 1])}` : `Learnt in ${milliseconds(data.seconds * 1000)}`;
          model.isTaught = true;
          after.hidden = false;
          taught(true);
          announce(status.textContent);
        }
      }, controller.signal);
    } catch (problem) {
      if (problem.name === "AbortError") status.textContent = "Stopped; the model is as it was.";
      else error.textContent = problem.message;
    }
    controller = null;
    teach.lastChild.textContent = "Teach";
  }, "primary");
  teach.disabled = true;

  const saved = h("p", { class: "soft", role: "status" });
  const after = h("div", { class: "field", hidden: !model.isTaught }, h("div", { class: "buttons" },
    h("a", { class: "button", href: "/api/taught", download: `${model.name}-taught.mlmodel` }, icon("down"), "Download the model"),
    model.canSave ? button("Save on this machine", "down", async () => { try { saved.textContent = `Saved as ${(await post("/api/save", "{}")).path}`; } catch (problem) { error.textContent = problem.message; } }) : null,
    button("Forget", "reset", async () => {
      await post("/api/forget", "{}");
      model.isTaught = false;
      after.hidden = true;
      progress.replaceChildren();
      taught(false);
      announce("The model is as its file has it.");
    }, "quiet")), saved);

  if (isLabelled) for (const name of [...new Set(model.labels)].filter((name) => name && name !== model.facts.learning?.neighbors?.default_label).slice(0, 12)) addLabel(name);
  else { addLabel("Examples"); labels.get("Examples").card.querySelector("h3").textContent = "Examples"; }

  return h("div", { class: "duo" },
    h("section", { class: "panel", "aria-label": "An example" }, h("div", { class: "panel-head" }, h("h2", {}, "An example")), h("div", { class: "fields" }, fields.map((each) => each.element), targetField?.element)),
    h("section", { class: "panel", "aria-label": "Lesson" }, h("div", { class: "panel-head" }, h("h2", {}, isLabelled ? "Labels" : "Lesson")),
      h("p", { class: "soft" }, onlyPicture ? "Name the labels, draw or drop an example and add it to its label, or drop files onto a label. Three of each are often enough." : "Fill in an example and add it."), cards,
      isLabelled ? h("div", { class: "buttons" }, h("label", { class: "unseen", for: labelId }, "A new label"), h("div", { class: "grow" }, labelName), button("New label", "plus", () => addLabel())) : null,
      optionFields.length ? h("details", {}, h("summary", {}, "How it learns"), h("div", { class: "controls" }, optionFields)) : null,
      h("div", { class: "buttons" }, teach), error, progress, after));
}
