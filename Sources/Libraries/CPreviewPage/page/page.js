// The page: the model's inputs on one side, what it says on the other, everything else below.
import { events, getModel, ModelProblem, Parcel, post, predict } from "./exchange.js";
import { announce, button, bytesText, h, icon, milliseconds, newId, percent, segmented, shown, slider } from "./elements.js";
import { field, fileEditor } from "./editors.js";
import { soundEditor } from "./sound.js";
import { answerView, questionView, spoken, tableView, windowsView } from "./views.js";
import { bar } from "./overlays.js";
import { besidePanel } from "./beside.js";
import { teachingPanel } from "./teaching.js";

// The token has done its work; it need not stay in the address.
history.replaceState(null, "", "/");
const page = document.getElementById("try");

try {
  show(await getModel());
} catch (error) {
  page.replaceChildren(h("p", { class: "waiting", role: "alert" }, error.message));
}

function show(model) {
  document.title = `${model.name} – preview`;
  head(model);
  const times = { first: 0, last: 0, changed: () => {} };
  const trial = makeTrial(model, times);
  page.replaceChildren();
  if (model.training) {
    const lessons = h("div", { hidden: true });
    const modes = segmented("What to do", [["try", "Try", "play"], ["teach", "Teach", "teach"]], "try", (mode) => {
      trial.element.hidden = mode !== "try";
      lessons.hidden = mode !== "teach";
      if (mode === "teach" && !lessons.children.length) lessons.append(teachingPanel(model, { taught: trial.taught }));
    });
    page.append(h("div", {}, modes), trial.element, lessons);
  } else page.append(trial.element);
  page.append(besidePanel(model, { inputs: trial.request, times }));
}

function head(model) {
  const theme = button("", "moon", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    theme.replaceChildren(icon(dark ? "moon" : "sun"));
    announce(dark ? "Light" : "Dark");
  }, "icon quiet");
  theme.setAttribute("aria-label", "Light or dark");
  if (matchMedia("(prefers-color-scheme: dark)").matches) theme.replaceChildren(icon("sun"));
  const chips = [h("li", { class: "chip kind" }, model.title), h("li", { class: "chip" }, bytesText(model.facts.bytes)), h("li", { class: "chip" }, `loaded in ${milliseconds(model.loadMilliseconds)}`)];
  if (model.labels.length) chips.push(h("li", { class: "chip" }, `${model.labels.length} ${model.labels.length === 1 ? "class" : "classes"}`));
  if (model.facts.updatable) chips.push(h("li", { class: "chip" }, "can be taught"));
  const about = model.facts.metadata?.description;
  document.getElementById("head").replaceChildren(h("div", { class: "head-row" }, h("img", { class: "head-icon", src: "/icon.svg", alt: "" }),
    h("div", { class: "head-text" }, h("h1", {}, model.name), about ? h("p", { class: "about" }, about) : null, h("ul", { class: "chips", "aria-label": "At a glance" }, chips)), theme));
}

/** Where the model is tried: editors, the answer, and how they meet. */
function makeTrial(model, times) {
  const error = h("p", { class: "field-error", role: "alert" });
  const answer = h("div", { class: "answer" });
  const time = h("span", { class: "chip", hidden: true });
  let variant = "original";
  let controller = null;
  let timer = 0;
  let isWanted = false;

  const handlers = { changed, live: () => run(), failed: () => {} };
  const way = waysOf(model, handlers);
  const go = button("Predict", "play", () => run({ isAsked: true }), "primary");

  function empty() {
    answer.replaceChildren(h("div", { class: "empty" }, icon("spark"), h("p", {}, way.hint)));
  }

  /** Something of the inputs is new: predicts when nothing is missing. */
  function changed({ isTyped = false } = {}) {
    clearTimeout(timer);
    if (!way.isReady) { if (!way.isPartly) { controller?.abort(); empty(); time.hidden = true; } return; }
    // A step of a model with states counts: it runs on request.
    if (way.isStepwise) return;
    timer = setTimeout(() => run(), isTyped ? (times.last > 400 ? 600 : 140) : 0);
  }

  async function run({ isAsked = false } = {}) {
    clearTimeout(timer);
    if (!way.isReady && !way.check(isAsked)) return;
    controller?.abort();
    const own = controller = new AbortController();
    error.textContent = "";
    way.clearErrors();
    answer.classList.add("stale");
    try {
      const both = variant === "both";
      const results = [];
      for (const each of both ? ["original", "taught"] : [variant]) results.push(await way.ask(each, own.signal, (part) => { answer.classList.remove("stale"); answer.replaceChildren(part); }));
      if (own.signal.aborted) return;
      const [first] = results;
      times.last = first.milliseconds;
      times.first ||= first.milliseconds;
      times.changed();
      time.textContent = milliseconds(first.milliseconds);
      time.hidden = false;
      answer.replaceChildren(...(both ? [h("div", { class: "versus" }, results.map((result, index) => h("div", { class: "answer" }, h("h3", { class: "soft" }, ["Original model", "Taught model"][index]), way.view(result))))] : way.view(first)));
      announce(way.spoken(results[results.length - 1]));
    } catch (problem) {
      if (problem.name === "AbortError") return;
      if (!(problem instanceof ModelProblem)) throw problem;
      time.hidden = true;
      empty();
      if (!way.fail(problem)) error.textContent = problem.message;
    } finally {
      if (controller === own) { answer.classList.remove("stale"); controller = null; }
    }
  }

  const variants = h("div", { hidden: !model.isTaught });
  function drawVariants(chosen) {
    variant = chosen;
    variants.replaceChildren(segmented("Which model answers", [["original", "Original"], ["taught", "Taught"], ["both", "Both"]], chosen, (value) => { variant = value; changed(); }));
  }
  drawVariants(model.isTaught ? "both" : "original");
  document.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && element.isConnected && !element.hidden) { event.preventDefault(); run({ isAsked: true }); } });
  const element = h("div", { class: "duo" },
    h("section", { class: "panel", "aria-label": "Input" }, h("div", { class: "panel-head" }, h("h2", {}, "Input"), way.modes), way.element, h("div", { class: "buttons" }, go, way.extra)),
    h("section", { class: "panel", "aria-label": "Answer", "aria-busy": "false" }, h("div", { class: "panel-head" }, h("h2", {}, "Answer"), variants, time), error, answer));
  empty();
  changed();
  return {
    element,
    request: async () => (way.isReady && way.single ? way.request(variant === "taught" ? "taught" : "original") : null),
    taught: (isTaught) => { variants.hidden = !isTaught; drawVariants(isTaught ? "both" : "original"); if (way.isReady) run(); },
  };
}

/** How a model is asked: by a form, or by files that are cut into windows or rows; some in several ways. */
function waysOf(model, handlers) {
  const ways = [];
  if (model.kind === "soundClassifier") ways.push(["Sound", windowsWay(model, soundEditor, handlers, "Record, or drop a sound.")]);
  if (model.kind === "activityClassifier") ways.push(["Recording", windowsWay(model, (each) => fileEditor({ accept: ".csv,.tsv,.json", hint: `Drop a recording: a CSV table with ${model.sensors?.length ? `the columns ${model.sensors.join(", ")}` : "a column for each sensor"}.`, choose: "Choose a table" }, each), handlers, "Drop a recording.")]);
  if (model.kind === "keypointClassifier") ways.push(["Key points", windowsWay(model, (each) => fileEditor({ accept: ".json,.csv", hint: "Drop a table with the column ‘keypoints’ (JSON or CSV).", choose: "Choose a table" }, each), handlers, "Drop a table of key points.")]);
  if (model.kind === "questionAnswering") ways.push(["Question", questionWay(model, handlers)]);
  if (model.kind === "textGenerator") ways.push(["Text", generationWay(model)]);
  const isPlain = model.inputs.length > 0 && model.inputs.every((input) => ["number", "integer", "string"].includes(input.type));
  if (!["soundClassifier", "keypointClassifier"].includes(model.kind)) ways.push([ways.length ? "Arrays" : "Form", formWay(model, handlers)]);
  if (isPlain) ways.push(["Table", tableWay(model, handlers)]);
  if (ways.length === 1) return Object.assign(ways[0][1], { modes: null });
  let chosen = 0;
  const element = h("div", {}, ways[0][1].element);
  const present = () => ways[chosen][1];
  const modes = segmented("How to ask", ways.map(([name], index) => [index, name]), 0, (index) => { chosen = index; element.replaceChildren(present().element); handlers.changed(); });
  return {
    element, modes,
    get hint() { return present().hint; },
    get isReady() { return present().isReady; },
    get isPartly() { return present().isPartly; },
    get single() { return present().single; },
    get isStepwise() { return present().isStepwise; },
    get extra() { return null; },
    check: (isAsked) => present().check(isAsked), clearErrors: () => present().clearErrors(), ask: (...given) => present().ask(...given),
    view: (result) => present().view(result), spoken: (result) => present().spoken(result), fail: (problem) => present().fail(problem), request: (variant) => present().request(variant),
  };
}

function formWay(model, handlers) {
  const isAlone = model.inputs.length === 1;
  const fields = model.inputs.map((input) => field(input, handlers, { isAlone }));
  const needed = fields.filter((each) => !each.feature.optional);
  const others = fields.filter((each) => each.feature.optional);
  const hasState = model.states.length > 0;
  let state = newId("state") + Math.random().toString(36).slice(2);
  let turns = 0;
  const counter = h("span", { class: "caption", role: "status" });
  const small = needed.length > 2 && needed.every((each) => ["number", "integer", "string"].includes(each.feature.type));
  const picture = () => fields.find((each) => each.editor.bitmap) ?? null;
  const element = h("div", { class: "fields" }, h("div", { class: small ? "fields many" : "fields" }, needed.map((each) => each.element)),
    others.length ? h("details", { open: needed.length === 0 || others.some((each) => ["overlap", "confidenceThreshold"].includes(each.feature.role)) }, h("summary", {}, others.length === 1 ? "1 optional input" : `${others.length} optional inputs`), h("div", { class: "fields" }, others.map((each) => each.element))) : null,
    hasState ? h("div", { class: "buttons" }, button("Restart", "reset", async () => { await post("/api/forget", JSON.stringify({ state })); state = newId("state") + Math.random().toString(36).slice(2); turns = 0; counter.textContent = "The state is empty."; }), counter) : null);
  async function request(variant) {
    const parcel = new Parcel();
    const inputs = {};
    for (const each of fields) if (each.editor.isReady) inputs[each.feature.name] = await each.editor.put(parcel);
    return parcel.bytes({ inputs, variant, ...(hasState ? { state } : {}) });
  }
  const isReady = () => needed.every((each) => each.editor.isReady);
  return {
    element, request, single: true, extra: null, isStepwise: hasState,
    hint: hintOf(model),
    get isReady() { return isReady(); },
    get isPartly() { return fields.some((each) => each.editor.isReady); },
    check(isAsked) {
      for (const each of needed) if (!each.editor.isReady) {
        // An empty text is a text, if the user asks for an answer.
        if (isAsked && each.feature.type === "string") { each.feature.isTouched = true; continue; }
        if (isAsked) each.failed("A value is missing.");
      }
      return isReady();
    },
    clearErrors: () => fields.forEach((each) => each.failed("")),
    async ask(variant, signal) {
      const result = await predict(await request(variant), signal);
      if (hasState) { turns += 1; counter.textContent = `${turns} ${turns === 1 ? "step" : "steps"} with this state`; }
      return result;
    },
    view: (result) => {
      const shown = picture();
      const text = fields.find((each) => each.feature.type === "string")?.editor.text;
      return answerView(model, result, { picture: shown ? { bitmap: shown.editor.bitmap, feature: shown.feature.type === "image" ? shown.feature : {}, fit: shown.editor.fit ?? "stretch" } : null, text });
    },
    spoken: (result) => spoken(model, result),
    fail: (problem) => { const found = fields.find((each) => each.feature.name === problem.input); found?.failed(problem.message); return Boolean(found); },
  };
}

function hintOf(model) {
  switch (model.kind) {
    case "imageClassifier": case "pictureFeatures": return "Add an image, and the model classifies it.";
    case "objectDetector": return "Add an image, and the model finds the objects in it.";
    case "imageSegmenter": return "Add an image, and the model colours its regions.";
    case "depthEstimator": return "Add an image, and the model estimates distances in it.";
    case "poseEstimator": return "Add an image of a person or a hand.";
    case "pictureMaker": return "Add an image, and the model makes another one.";
    case "textClassifier": case "wordTagger": return "Write something; the answer follows while you write.";
    case "recommender": return "Add a few items, and the model recommends others.";
    default: return "Fill in the inputs; the answer appears here.";
  }
}

/** Ways that send one file. */
function fileWay(mode, editor, shell, hint, view, say) {
  return {
    element: shell, hint, single: false, extra: null, isPartly: false,
    get isReady() { return editor.isReady; },
    check(isAsked) { if (isAsked && !editor.isReady) shell.failed("A file is missing."); return editor.isReady; },
    clearErrors: () => shell.failed(""),
    request: async () => null,
    async ask(variant, signal) {
      const parcel = new Parcel();
      const file = await editor.file(parcel);
      return post("/api/predict", parcel.bytes({ mode, file, variant }), signal);
    },
    view, spoken: say,
    fail: (problem) => { shell.failed(problem.message); return true; },
  };
}

function shellOf(make, handlers) {
  const error = h("p", { class: "field-error", role: "alert" });
  const failed = (text) => { error.textContent = text; };
  const editor = make({ ...handlers, failed });
  return [editor, Object.assign(h("div", { class: "field" }, editor.element, error), { failed })];
}

function windowsWay(model, make, handlers, hint) {
  const [editor, shell] = shellOf(make, handlers);
  return fileWay("windows", editor, shell, hint, (result) => windowsView(result, editor), (result) => result.mean[0]?.[0] ?? "");
}

function tableWay(model, handlers) {
  const names = model.inputs.filter((input) => !input.optional).map((input) => input.name);
  const [editor, shell] = shellOf((each) => fileEditor({ accept: ".csv,.json", hint: `Drop a CSV table, or a list of JSON objects, with ${names.length > 6 ? `${names.slice(0, 6).join(", ")} and ${names.length - 6} more` : names.join(", ")}.`, choose: "Choose a table" }, each), handlers);
  return fileWay("table", editor, shell, "Drop a table, and every row is answered.", tableView, (result) => `${result.rows.length} rows`);
}

function questionWay(model, handlers) {
  const [textId, questionId] = [newId("context"), newId("question")];
  const error = h("p", { class: "field-error", role: "alert" });
  const text = h("textarea", { id: textId, rows: 9, placeholder: "Paste a text", oninput: () => handlers.changed({ isTyped: true }) });
  const question = h("input", { type: "text", id: questionId, placeholder: "Ask something that the text answers", oninput: () => handlers.changed({ isTyped: true }) });
  let vocabulary = null;
  const [editor, shell] = shellOf((each) => fileEditor({ accept: ".txt", image: "text", hint: "Drop the vocabulary (vocab.txt), which the model's file does not hold.", choose: "Choose a vocabulary" }, { ...each, changed: async () => { vocabulary = true; handlers.changed(); } }), handlers);
  const element = h("div", { class: "fields" }, model.hasVocabulary ? null : shell, h("div", { class: "field" }, h("label", { for: textId }, "Text"), text), h("div", { class: "field" }, h("label", { for: questionId }, "Question"), question), error);
  const isReady = () => Boolean((model.hasVocabulary || vocabulary) && text.value.trim() && question.value.trim());
  return {
    element, hint: "Give the model a text and a question, and it marks the answer.", single: false, extra: null, isPartly: false,
    get isReady() { return isReady(); },
    check(isAsked) { if (isAsked && !isReady()) error.textContent = model.hasVocabulary || vocabulary ? "Write a text and a question." : "The vocabulary is missing."; return isReady(); },
    clearErrors: () => { error.textContent = ""; },
    request: async () => null,
    async ask(variant, signal) {
      const parcel = new Parcel();
      const words = model.hasVocabulary ? {} : { vocabulary: await editor.file(parcel) };
      return post("/api/predict", parcel.bytes({ mode: "question", question: question.value, context: text.value, variant, ...words }), signal);
    },
    view: (result) => questionView(result, text.value),
    spoken: (result) => (result.answers[0] ? [...text.value].slice(result.answers[0].start, result.answers[0].end).join("") : "No answer"),
    fail: (problem) => { if (problem.input === "vocabulary") shell.failed(problem.message); else error.textContent = problem.message; return true; },
  };
}

/** A text that the model continues; the answer grows while it is read. */
function generationWay(model) {
  const id = newId("prompt");
  const error = h("p", { class: "field-error", role: "alert" });
  const prompt = h("textarea", { id, rows: 5, placeholder: model.hasVocabulary ? "The model continues your text" : "Numbers of tokens, such as 464 3290; with --vocabulary the page takes texts" });
  const settings = { count: 40, temperature: 0.8 };
  const element = h("div", { class: "fields" }, h("div", { class: "field" }, h("label", { for: id }, "Beginning"), prompt),
    h("div", { class: "controls" },
      slider("Tokens", { min: 1, max: 200, step: 1, value: settings.count }, (value) => { settings.count = value; }),
      slider("Temperature", { min: 0, max: 2, step: 0.05, value: settings.temperature, text: (value) => (value === 0 ? "0, always the likeliest" : shown(value, 3)) }, (value) => { settings.temperature = value; })), error);
  const going = h("span", {});
  const written = h("p", { class: "bigtext" });
  const next = h("div", { class: "field" });
  return {
    element, hint: "Write a beginning and press Predict: the model goes on.", single: false, extra: null, isPartly: true,
    get isReady() { return false; },
    isAskable: () => prompt.value.trim() !== "",
    check(isAsked) { if (isAsked && !prompt.value.trim()) error.textContent = "Write a beginning."; return isAsked && prompt.value.trim() !== ""; },
    clearErrors: () => { error.textContent = ""; },
    request: async () => null,
    async ask(variant, signal, grow) {
      const start = prompt.value;
      going.textContent = "";
      next.replaceChildren();
      written.replaceChildren(h("span", { class: "soft" }, start), going);
      grow(h("div", { class: "answer" }, written, next));
      let [problem, speed, time] = [null, 0, 0];
      const began = performance.now();
      await events("/api/generate", new Parcel().bytes({ text: start, ...settings, seed: Math.floor(Math.random() * 1e9) }), (name, data) => {
        if (name === "token") {
          going.textContent = data.text;
          speed = data.perSecond;
          next.replaceChildren(h("h3", {}, `The last token among the likeliest · ${shown(speed, 3)} tokens a second`), h("ol", { class: "bars" }, data.candidates.map(([text, share]) => bar(JSON.stringify(text).slice(1, -1), share, percent(share)))));
        }
        if (name === "failed") problem = new ModelProblem(data.error);
      }, signal);
      time = performance.now() - began;
      if (problem) throw problem;
      return { milliseconds: time };
    },
    view: () => [h("div", { class: "answer" }, written, next)],
    spoken: () => written.textContent,
    fail: (problem) => { error.textContent = problem.message; return true; },
  };
}
