// Small pieces that everything else is made of.

/** An element: h("p", { class: "x", onclick }, "text", child). */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  set(element, properties);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "vars") for (const [key, text] of Object.entries(value)) element.style.setProperty(`--${key}`, text);
    else if (name === "value" || name === "checked" || name === "muted" || name === "srcObject") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
}

const space = "http://www.w3.org/2000/svg";
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS(space, tag);
  set(element, properties);
  element.append(...children.flat().filter(Boolean));
  return element;
}

const icons = {
  picture: "M4 5h16v14H4zM4 16l4.500-4.500 4 4 3-3 4.500 4.500M15.500 9.500h.01",
  camera: "M4 8h3.500L9 5.500h6L16.500 8H20v11H4zM12 16.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7z",
  draw: "M5 19l1-4L16.500 4.500l3 3L9 18zM14.500 6.500l3 3",
  sound: "M5 10v4M8.500 7v10M12 4v16M15.500 8v8M19 10.500v3",
  microphone: "M12 14.500a3 3 0 0 0 3-3V6.500a3 3 0 0 0-6 0v5a3 3 0 0 0 3 3zM6 11.500a6 6 0 0 0 12 0M12 17.500V21",
  text: "M5 6h14M12 6v13M9 19h6",
  table: "M4 5h16v14H4zM4 10h16M4 14.500h16M10 5v14",
  array: "M8 4H5v16h3M16 4h3v16h-3M10 9h4M10 12h4M10 15h4",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  sun: "M12 16.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM12 2.500v2M12 19.500v2M2.500 12h2M19.500 12h2M5.300 5.300l1.400 1.400M17.300 17.300l1.400 1.400M5.300 18.700l1.400-1.400M17.300 6.700l1.400-1.400",
  moon: "M19.500 14.500A8 8 0 0 1 9.500 4.500a8 8 0 1 0 10 10z",
  spark: "M12 4l1.800 5.200L19 11l-5.200 1.800L12 18l-1.800-5.200L5 11l5.200-1.800zM18.500 16.500l.7 1.800 1.800.7-1.800.7-.7 1.800-.7-1.800-1.800-.7 1.800-.7z",
  play: "M8 5.500l10 6.500-10 6.500z",
  stop: "M7 7h10v10H7z",
  teach: "M3 9l9-4 9 4-9 4zM7 11v5c3 2 7 2 10 0v-5M21 9v6",
  down: "M12 4v11M7.500 11l4.500 4.500L16.500 11M5 19.500h14",
  reset: "M5 12a7 7 0 1 1 2.500 5.400M5 12V7M5 12h5",
  clock: "M12 20.500a8.500 8.500 0 1 0 0-17 8.500 8.500 0 0 0 0 17zM12 7.500V12l3 2",
  plus: "M12 5v14M5 12h14",
  clear: "M6 6l12 12M18 6L6 18",
  dice: "M5 5h14v14H5zM9 9h.01M15 9h.01M12 12h.01M9 15h.01M15 15h.01",
};
export const icon = (name, kind) =>
  svg("svg", { viewBox: "0 0 24 24", fill: "none", stroke: "currentColor", "stroke-width": "1.8", "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true", class: kind }, svg("path", { d: icons[name] }));

let last = 0;
export const newId = (stem) => `${stem}-${++last}`;

export function button(text, image, action, kind = "") {
  return h("button", { type: "button", class: `button ${kind}`, onclick: action }, image && icon(image), text);
}

/** Tells people who do not see the page. */
export function announce(text) {
  const place = document.getElementById("announcer");
  place.textContent = "";
  setTimeout(() => { place.textContent = text; }, 30);
}

/** Numbers with four digits that count, as people write them. */
export function shown(number, digits = 4) {
  if (typeof number === "string") return number;
  if (number === null || number === undefined) return "";
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (Number.isInteger(number) && size < 1e9) return String(number).replace("-", "−");
  if (size >= 1e6 || size < 1e-4) return number.toExponential(digits - 1).replace("-", "−");
  return String(Number(number.toPrecision(digits))).replace("-", "−");
}
export const percent = (share) => `${(share * 100).toFixed(share >= 0.9995 || share < 0.0005 ? 0 : 1)} %`;
export const milliseconds = (time) => (time >= 1000 ? `${shown(time / 1000, 3)} s` : `${shown(time, 3)} ms`);
export const bytesText = (count) => (count >= 1e6 ? `${shown(count / 1e6, 3)} MB` : count >= 1e3 ? `${shown(count / 1e3, 3)} kB` : `${count} bytes`);

const hues = [[79, 70, 229], [217, 119, 6], [13, 148, 136], [219, 39, 119], [37, 99, 235], [101, 163, 13], [147, 51, 234], [220, 38, 38], [8, 145, 178], [202, 138, 4], [5, 150, 105], [192, 38, 211]];
/** The colour of the class with a number, as red, green and blue. */
export function color(index) {
  if (index < hues.length) return hues[index];
  const hue = (index * 137.508) % 360;
  const [saturation, light] = [0.62, 0.45 + 0.12 * (index % 3 - 1)];
  const part = (n) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (light - saturation * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4)];
}
export const css = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;

/** A list of choices of which one holds; `choose(value)` is called for each change. */
export function segmented(name, choices, chosen, choose) {
  const buttons = choices.map(([value, text, image]) =>
    h("button", { type: "button", "aria-pressed": String(value === chosen), onclick: () => pick(value) }, image && icon(image), text));
  function pick(value) {
    buttons.forEach((each, index) => each.setAttribute("aria-pressed", String(choices[index][0] === value)));
    choose(value);
  }
  return h("div", { class: "segmented", role: "group", "aria-label": name }, buttons);
}

/** Tabs by WAI-ARIA's pattern: arrows move, the chosen one shows its part. */
export function tabs(name, parts) {
  const stem = newId("tab");
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": name });
  const panels = h("div", {});
  const all = parts.map(([title, make], index) => {
    const panel = h("div", { role: "tabpanel", id: `${stem}-p${index}`, "aria-labelledby": `${stem}-t${index}`, tabindex: "0", hidden: true });
    const tab = h("button", { type: "button", role: "tab", id: `${stem}-t${index}`, "aria-controls": panel.id, onclick: () => choose(index) }, title);
    list.append(tab);
    panels.append(panel);
    return { tab, panel, make };
  });
  function choose(chosen) {
    all.forEach((part, index) => {
      part.tab.setAttribute("aria-selected", String(index === chosen));
      part.tab.tabIndex = index === chosen ? 0 : -1;
      part.panel.hidden = index !== chosen;
    });
    const part = all[chosen];
    if (part.make) part.panel.append(part.make());
    part.make = null;
  }
  list.addEventListener("keydown", (event) => {
    const present = all.findIndex((part) => part.tab === document.activeElement);
    const next = { ArrowRight: present + 1, ArrowLeft: present - 1, Home: 0, End: all.length - 1 }[event.key];
    if (next === undefined || present < 0) return;
    event.preventDefault();
    const index = (next + all.length) % all.length;
    choose(index);
    all[index].tab.focus();
  });
  choose(0);
  return h("div", { class: "beside" }, list, panels);
}

/** A slider with its name and value. */
export function slider(name, { min, max, step, value, text = (number) => shown(number, 3) }, change) {
  const id = newId("slider");
  const output = h("output", { class: "tabular" }, text(value));
  const input = h("input", { type: "range", id, min, max, step, value, oninput: () => { output.textContent = text(Number(input.value)); change(Number(input.value)); } });
  return h("div", { class: "control" }, h("div", { class: "row" }, h("label", { for: id }, name), output), input);
}

export function download(name, parts, type) {
  const link = h("a", { href: URL.createObjectURL(new Blob(parts, { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A canvas with these pixels: [red, green, blue, alpha] of each. */
export function canvasOf(width, height, pixels, kind = "") {
  const canvas = h("canvas", { width, height, class: kind });
  canvas.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
  return canvas;
}

export const isDark = () => {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};
/** A colour of the style sheet, as canvases take it. */
export const ink = (name) => {
  const probe = h("span", { hidden: true });
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const result = getComputedStyle(probe).color;
  probe.remove();
  return result;
};
