// Views of the results, by their type.
import { announce, button, canvasOf, color, css, download, h, icon, ink, newId, percent, shown, segmented } from "./elements.js";
import { bar, boxesView, depthView, madeView, maskView, poseView } from "./overlays.js";
import { arrayView, enlarge } from "./plots.js";
import { drawWave } from "./sound.js";

/** Everything that one prediction gave. */
export function answerView(model, answer, context) {
  const outputs = answer.outputs;
  const main = [];
  const used = new Set();
  const take = (...roles) => roles.forEach((role) => model.roles[role] && used.add(model.roles[role]));
  const byRole = (role) => outputs.find((output) => output.name === model.roles[role]);
  const picture = context.picture;
  const hasPicture = picture?.bitmap;
  if (model.kind === "objectDetector" && hasPicture && byRole("boxes")?.numbers) { main.push(boxesView(model, outputs, picture)); take("boxes", "confidences"); }
  else if (model.kind === "imageSegmenter" && hasPicture) { main.push(maskView(model, outputs, picture)); take("mask"); }
  else if (model.kind === "depthEstimator" && hasPicture) { main.push(depthView(model, outputs, picture)); take("depth"); }
  else if (model.kind === "poseEstimator" && hasPicture && byRole("keypoints")?.numbers) { main.push(poseView(model, outputs, picture)); take("keypoints", "offsets", "forwardOffsets", "backwardOffsets"); }
  else if (model.kind === "pictureMaker" && hasPicture) outputs.filter((output) => output.type === "image").forEach((output) => { main.push(madeView(output, picture)); used.add(output.name); });
  else if (model.kind === "wordTagger") { main.push(tagsView(model, byRole, context.text ?? "")); take("words", "tags", "places", "lengths"); }
  else if (model.kind === "recommender" && byRole("ranking")) { main.push(rankingView(byRole("ranking"), byRole("scores"))); take("ranking", "scores"); }
  else if (model.kind === "tabularRegressor" && byRole("number")) { main.push(numberView(byRole("number"))); take("number"); }
  const label = outputs.find((output) => output.name === model.roles.label && ["string", "integer"].includes(output.type));
  const shares = outputs.find((output) => output.name === model.roles.probabilities && output.type === "dictionary");
  if (label || shares) {
    main.push(classesView(label?.value ?? shares?.value?.[0]?.[0] ?? "", shares?.value ?? []));
    take("label", "probabilities");
  }
  const rest = outputs.filter((output) => !used.has(output.name));
  const cards = rest.map((output) => outputCard(output, picture));
  if (main.length && cards.length) main.push(h("details", { open: model.kind === "other" }, h("summary", {}, `${cards.length} more ${cards.length === 1 ? "output" : "outputs"}`), h("div", { class: "answer" }, cards)));
  else main.push(...cards);
  return main;
}

/** A short sentence of it, for who listens. */
export function spoken(model, answer) {
  const label = answer.outputs?.find((output) => output.name === model.roles.label && output.type !== "dictionary");
  const shares = answer.outputs?.find((output) => output.name === model.roles.probabilities);
  if (label) return `${label.value}${shares?.value?.[0] ? `, ${percent(shares.value[0][1])}` : ""}`;
  const number = answer.outputs?.find((output) => output.name === model.roles.number);
  if (number) return shown(number.numbers?.[0] ?? number.value);
  return "The answer is there.";
}

const areShares = (list) => list.every(([, value]) => typeof value === "number" && value >= -1e-6 && value <= 1.000001);

export function classesView(label, list) {
  const isShare = areShares(list);
  const top = list.slice(0, 5);
  const greatest = Math.max(...list.map(([, value]) => (typeof value === "number" ? Math.abs(value) : 0)), 1e-12);
  const text = (value) => (isShare ? percent(value) : shown(value));
  const best = list.find(([name]) => name === label);
  return h("div", { class: "answer" },
    h("p", { class: "headline" }, label === "" ? "(empty)" : label, best ? h("small", {}, text(best[1])) : null),
    top.length ? h("ol", { class: "bars" }, top.map(([name, value]) => { const each = bar(name, isShare ? value : Math.abs(value) / greatest, text(value)); each.classList.toggle("strong", name === label); return each; })) : null,
    list.length > top.length ? allClasses(list, text) : null);
}

function allClasses(list, text) {
  const id = newId("search");
  const rows = h("tbody", {});
  const count = h("p", { class: "caption", role: "status" });
  const search = h("input", { type: "search", id, placeholder: "Search", oninput: () => fill() });
  function fill() {
    const wanted = search.value.toLowerCase();
    const found = list.map((pair, index) => [...pair, index + 1]).filter(([name]) => name.toLowerCase().includes(wanted));
    rows.replaceChildren(...found.slice(0, 200).map(([name, value, place]) => h("tr", {}, h("td", { class: "soft" }, String(place)), h("td", {}, name), h("td", {}, text(value)))));
    count.textContent = found.length > 200 ? `${found.length} classes, the first 200 shown` : `${found.length} ${found.length === 1 ? "class" : "classes"}`;
  }
  const details = h("details", { ontoggle: () => { if (details.open && !rows.children.length) fill(); } }, h("summary", {}, `All ${list.length} classes`),
    h("div", { class: "field" }, h("label", { class: "unseen", for: id }, "Search the classes"), search, count,
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All classes" }, h("table", {}, h("thead", {}, h("tr", {}, ["Rank", "Class", "Value"].map((name) => h("th", { scope: "col" }, name)))), rows))));
  return details;
}

function numberView(output) {
  const value = output.numbers ? output.numbers[0] : output.value;
  return h("div", { class: "answer" }, h("p", { class: "soft" }, output.name), h("p", { class: "headline tabular" }, shown(value, 6)));
}

function rankingView(ranking, scores) {
  const values = new Map(scores?.value ?? []);
  const greatest = Math.max(...values.values(), 1e-12);
  if (!ranking.value.length) return h("p", { class: "soft" }, "Nothing to recommend for these items.");
  return h("ol", { class: "ranking" }, ranking.value.map((item) => {
    const score = values.get(item);
    return h("li", {}, h("span", {}, item), h("span", { class: "soft tabular small" }, score === undefined ? "" : shown(score, 3)),
      h("span", { class: "bar-track", "aria-hidden": "true" }, h("span", { class: "bar-fill", vars: { share: `${Math.max((score ?? 0) / greatest, 0) * 100}%` } })));
  }));
}

function tagsView(model, byRole, text) {
  const [words, tags, places, lengths] = ["words", "tags", "places", "lengths"].map((role) => byRole(role)?.value ?? byRole(role)?.numbers ?? []);
  const kinds = [...new Set(tags)];
  const isPlain = (tag) => /^(none|o|other|_)$/i.test(tag);
  const shade = new Map(kinds.filter((tag) => !isPlain(tag)).map((tag, index) => [tag, css(color(index))]));
  const line = h("p", { class: "tagged" });
  let end = 0;
  words.forEach((word, index) => {
    const start = places.length ? Number(places[index]) : -1;
    if (start >= end && start <= text.length && words.length === places.length) { line.append(text.slice(end, start)); end = start + Number(lengths[index] ?? word.length); } else if (index) line.append(" ");
    const tag = tags[index];
    if (isPlain(tag)) line.append(word); else line.append(h("mark", { vars: { fill: shade.get(tag) } }, word, h("span", {}, tag)));
  });
  if (places.length && end < text.length) line.append(text.slice(end));
  return h("div", { class: "answer" }, line, h("div", { class: "legend" }, [...shade].map(([tag, fill]) => h("span", { class: "key" }, h("span", { class: "swatch", vars: { fill } }), `${tag} · ${tags.filter((each) => each === tag).length}`))));
}

function outputCard(output, picture) {
  const head = h("div", { class: "card-head" }, h("span", { class: "name" }, output.name), h("span", { class: "field-type" }, kindText(output)),
    output.numbers && output.numbers.length > 1 ? button("Save", "down", () => saveArray(output), "quiet") : null);
  return h("section", { class: "card", "aria-label": output.name }, head, cardBody(output, picture));
}

function kindText(output) {
  if (output.type === "array") return `${output.scalar.replace(/^fp/, "float")} [${output.shape.join(", ")}]`;
  if (output.type === "image") return `picture ${output.width} × ${output.height}`;
  return output.type;
}

function cardBody(output, picture) {
  switch (output.type) {
    case "integer": case "number": return h("p", { class: "headline tabular" }, shown(output.value, 6));
    case "string": return h("p", { class: output.value.length < 40 ? "headline" : "bigtext" }, output.value === "" ? "(empty)" : output.value);
    case "dictionary": return classesView(output.value[0]?.[0] ?? "", output.value);
    case "sequence": return h("ol", { class: "item-chips" }, output.value.slice(0, 500).map((item) => h("li", { class: "chip" }, item)));
    case "image": {
      if (picture?.bitmap) return madeView(output, picture);
      const canvas = enlarge(canvasOf(output.width, output.height, output.pixels));
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", output.name);
      return h("div", { class: "picture" }, canvas);
    }
    default: return output.numbers ? arrayView(output) : h("p", { class: "bigtext" }, (output.value ?? []).slice(0, 200).join(", "));
  }
}

/** NumPy's form of an array. */
function saveArray(output) {
  const type = output.numbers instanceof Float64Array ? "<f8" : output.numbers instanceof Float32Array ? "<f4" : "<i4";
  const text = `{'descr': '${type}', 'fortran_order': False, 'shape': (${output.shape.join(", ")}${output.shape.length === 1 ? "," : ""}), }`;
  const head = text + " ".repeat(63 - ((10 + text.length) % 64)) + "\n";
  download(`${output.name}.npy`, [new Uint8Array([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, head.length & 255, head.length >> 8]), head, output.numbers], "application/octet-stream");
}

/** Windows of a sound or a recording: what is said, and when. */
export function windowsView(answer, sound) {
  const { windows, mean, unit } = answer;
  const length = Math.max(...windows.map((window) => window.end));
  const top = mean.slice(0, 5).map(([name]) => name);
  const text = (value) => (unit === "s" ? `${value.toFixed(1)} s` : String(Math.round(value)));
  const [width, left, lane, head] = [640, 118, 30, sound?.samples ? 76 : 6];
  const height = head + top.length * lane + 26;
  const canvas = h("canvas", { class: "lanes", width: width * 2, height: height * 2, role: "img", "aria-label": `When each class is likely, from 0 to ${text(length)}` });
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  if (sound?.samples) { const wave = h("canvas", { width: (width - left) * 2, height: 128 }); drawWave(wave, sound.samples); context.drawImage(wave, left, 2, width - left, 64); }
  context.font = "14px system-ui, sans-serif";
  context.textBaseline = "middle";
  top.forEach((name, row) => {
    const y = head + row * lane;
    context.fillStyle = ink("ink");
    context.fillText(name.length > 14 ? `${name.slice(0, 13)}…` : name, 0, y + lane / 2);
    context.fillStyle = ink("sunken");
    context.fillRect(left, y + 3, width - left, lane - 6);
    windows.forEach((window, index) => {
      const share = window.results.find(([each]) => each === name)?.[1] ?? 0;
      // Windows overlap: each shows up to where the next one begins.
      const end = windows[index + 1]?.start > window.start ? Math.min(windows[index + 1].start, window.end) : window.end;
      const [red, green, blue] = color(row);
      context.fillStyle = `rgb(${red} ${green} ${blue} / ${Math.max(share, 0.02)})`;
      context.fillRect(left + (window.start / length) * (width - left), y + 3, Math.max(((end - window.start) / length) * (width - left) - 1, 1), lane - 6);
    });
  });
  context.fillStyle = ink("ink-soft");
  context.fillText(text(0), left, height - 10);
  context.textAlign = "right";
  context.fillText(text(length), width, height - 10);
  const cursor = h("div", { class: "cursor", hidden: true });
  const stage = h("div", { class: "lane-stage" }, canvas, cursor);
  if (sound?.player) sound.player.ontimeupdate = () => {
    cursor.hidden = false;
    cursor.style.setProperty("--place", `${((left + (Math.min(sound.player.currentTime / length, 1)) * (width - left)) / width) * 100}%`);
  };
  const rows = windows.slice(0, 400).map((window) => h("tr", {}, h("td", { class: "soft" }, `${text(window.start)} – ${text(window.end)}`), h("td", {}, window.results[0]?.[0] ?? ""), h("td", {}, window.results[0] ? percent(window.results[0][1]) : "")));
  return [classesView(mean[0]?.[0] ?? "", mean), h("div", { class: "timeline" }, h("h3", {}, "Over time"), h("div", { class: "scroll-x" }, stage),
    h("details", {}, h("summary", {}, `${windows.length} ${windows.length === 1 ? "window" : "windows"}`), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Windows" }, h("table", {}, h("thead", {}, h("tr", {}, ["When", "Class", "Probability"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows)))))];
}

/** A table of rows and answers. */
export function tableView(answer) {
  const cell = (value) => (typeof value === "number" ? shown(value, 6) : value ?? "");
  const csv = () => [answer.columns, ...answer.rows].map((row) => row.map((value) => { const text = String(value ?? ""); return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; }).join(",")).join("\n");
  return [h("p", { class: "headline" }, `${answer.rows.length} ${answer.rows.length === 1 ? "row" : "rows"}`), answer.isCut ? h("p", { class: "field-note" }, "The table has more rows; ‘coreml predict --csv’ answers all.") : null,
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows with answers" }, h("table", {}, h("thead", {}, h("tr", {}, answer.columns.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, answer.rows.slice(0, 500).map((row) => h("tr", {}, row.map((value, index) => h("td", { class: index >= answer.inputs ? "answered" : undefined }, cell(value)))))))),
    h("div", { class: "buttons" }, button("Save as CSV", "down", () => download("answers.csv", [csv()], "text/csv")))].filter(Boolean);
}

/** Where in the text the answer stands. */
export function questionView(answer, text) {
  const characters = [...new Intl.Segmenter().segment(text)].map((part) => part.segment);
  if (!answer.answers.length) return [h("p", { class: "headline" }, "No answer")];
  const [best] = answer.answers;
  const cut = (from, to) => characters.slice(from, to).join("");
  return [h("p", { class: "headline" }, cut(best.start, best.end), h("small", {}, percent(best.score))),
    h("p", { class: "context", tabindex: "0", role: "region", "aria-label": "The text with the answer marked" }, cut(0, best.start), h("mark", {}, cut(best.start, best.end)), cut(best.end)),
    answer.answers.length > 1 ? h("ol", { class: "bars" }, answer.answers.map((each) => bar(cut(each.start, each.end), each.score, percent(each.score)))) : null].filter(Boolean);
}
