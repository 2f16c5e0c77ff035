// The panels beside the answers: interface, speed, code, metadata, structure.
import { post } from "./exchange.js";
import { announce, button, bytesText, h, icon, milliseconds, shown, tabs } from "./elements.js";
import { histogram } from "./plots.js";

export function besidePanel(model, { inputs, times }) {
  const parts = [["Interface", () => interfacePart(model)], ["Speed", () => speedPart(model, inputs, times)], ["Code", () => codePart(model)], ["About", () => aboutPart(model)]];
  if (Object.keys(model.facts.operations ?? {}).length || model.labels.length) parts.push(["Inside", () => insidePart(model)]);
  return h("section", { class: "panel", "aria-label": "About the model" }, tabs("About the model", parts));
}

function featureTable(name, list) {
  const columns = ["Name", "Type", ...(list.some((feature) => feature.description) ? ["Description"] : [])];
  return h("div", {}, h("h3", {}, name), h("div", { class: "scroll-x" }, h("table", {}, h("thead", {}, h("tr", {}, columns.map((each) => h("th", { scope: "col" }, each)))),
    h("tbody", {}, list.map((feature) => h("tr", {}, h("td", { class: "mono" }, feature.name), h("td", { class: "mono soft" }, feature.text), columns.length > 2 ? h("td", {}, feature.description) : null))))));
}

function interfacePart(model) {
  const lists = [["Inputs", model.inputs], ["Outputs", model.outputs], ["States", model.states], ["Training inputs", model.training ?? []]];
  return h("div", { class: "columns" }, lists.filter(([, list]) => list.length).map(([name, list]) => featureTable(name, list)));
}

function speedPart(model, inputs, times) {
  const figures = h("dl", { class: "meter" });
  const plot = h("div", {});
  const error = h("p", { class: "field-error", role: "alert" });
  const figure = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
  const draw = (more = []) => figures.replaceChildren(figure("Loading", milliseconds(model.loadMilliseconds)), ...(times.first ? [figure("First prediction", milliseconds(times.first))] : []), ...(times.last ? [figure("Last prediction", milliseconds(times.last))] : []), ...more);
  draw();
  times.changed = () => draw();
  const run = button("Measure again and again", "clock", async () => {
    error.textContent = "";
    const body = await inputs();
    if (!body) { error.textContent = "Give the model its inputs first; the same are used again and again."; return; }
    run.disabled = true;
    try {
      const { milliseconds: list } = await post("/api/measure", body);
      const sorted = [...list].sort((left, right) => left - right);
      const at = (share) => sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)];
      draw([figure("Median", milliseconds(at(0.5))), figure("Fastest", milliseconds(sorted[0])), figure("9 of 10 within", milliseconds(at(0.9))), figure("A second does", shown(1000 / at(0.5), 3))]);
      // A few that something else held up would leave no room for the others.
      const most = sorted.slice(0, Math.ceil(sorted.length * 0.97));
      const left = sorted.length - most.length;
      plot.replaceChildren(h("h3", {}, left ? `${list.length} predictions, without the slowest ${left}` : `${list.length} predictions`), histogram(most, "How long predictions took", milliseconds));
      announce(`Median ${milliseconds(at(0.5))}`);
    } catch (problem) { error.textContent = problem.message; }
    run.disabled = false;
  });
  return h("div", { class: "fields" }, figures, h("div", { class: "buttons" }, run), error, plot);
}

const words = {
  swift: /(\/\/[^\n]*)|("(?:\\.|[^"\\])*")|\b(import|let|try|await|print|var)\b|\b(\d[\d.]*)\b|\b([A-Z]\w+)\b/g,
  python: /(#[^\n]*)|("(?:\\.|[^"\\])*")|\b(import|from|as|print|None)\b|\b(\d[\d.]*)\b|\b([A-Z]\w+)\b/g,
  shell: /(#[^\n]*)|('[^']*'|"[^"]*")|\b(coreml|predict)\b|\b(\d[\d.]*)\b|( -{1,2}\w+)/g,
};

function colored(text, language) {
  const code = h("code", {});
  let end = 0;
  for (const match of text.matchAll(words[language])) {
    code.append(text.slice(end, match.index));
    const kind = match[1] ? "c" : match[2] ? "s" : match[3] ? "k" : match[4] ? "n" : "t";
    code.append(h("span", { class: kind }, match[0]));
    end = match.index + match[0].length;
  }
  code.append(text.slice(end));
  return code;
}

function codePart(model) {
  const part = (language, name) => [name, () => {
    const copy = button("Copy", "copy", async () => {
      try { await navigator.clipboard.writeText(model.code[language]); copy.lastChild.textContent = "Copied"; } catch { copy.lastChild.textContent = "Select and copy"; }
      announce(copy.lastChild.textContent);
      setTimeout(() => { copy.lastChild.textContent = "Copy"; }, 1600);
    });
    return h("div", { class: "code" }, h("pre", { tabindex: "0", role: "region", "aria-label": `${name} code` }, colored(model.code[language], language)), copy);
  }];
  return tabs("Languages", [part("swift", "Swift"), part("python", "Python"), part("shell", "Shell")]);
}

function aboutPart(model) {
  const facts = model.facts;
  const rows = [["File", facts.path], ["Kind", facts.kind], ["Size", bytesText(facts.bytes)], ["Specification", String(facts.specification)], ["Runs on", `${facts.runs_on} and later, and here`]];
  if (facts.updatable) rows.push(["Updatable", "yes"]);
  if (facts.functions?.length) rows.push(["Functions", facts.functions.join(", ")]);
  for (const [name, value] of Object.entries(facts.metadata ?? {})) rows.push([name, String(value)]);
  return h("dl", { class: "facts" }, rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function insidePart(model) {
  const operations = Object.entries(model.facts.operations ?? {}).sort((left, right) => right[1] - left[1]);
  const most = Math.max(...operations.map(([, count]) => count), 1);
  const total = operations.reduce((sum, [, count]) => sum + count, 0);
  return h("div", { class: "columns" },
    operations.length ? h("div", {}, h("h3", {}, `${total} ${total === 1 ? "operation" : "operations"}`), h("ol", { class: "bars" }, operations.slice(0, 16).map(([name, count]) =>
      h("li", { class: "bar strong" }, h("span", { class: "bar-name mono" }, name), h("span", { class: "bar-value" }, String(count)), h("span", { class: "bar-track", "aria-hidden": "true" }, h("span", { class: "bar-fill", vars: { share: `${(count / most) * 100}%` } }))))),
    operations.length > 16 ? h("p", { class: "caption" }, `and ${operations.length - 16} more kinds`) : null) : null,
    model.labels.length ? h("div", {}, h("h3", {}, `${model.labels.length} ${model.labels.length === 1 ? "class" : "classes"}`), h("div", { class: "item-chips" }, model.labels.slice(0, 120).map((label) => h("span", { class: "chip" }, label))), model.labels.length > 120 ? h("p", { class: "caption" }, `and ${model.labels.length - 120} more`) : null) : null);
}
