// Arrays of numbers: statistics, lines, bars, heat maps, pictures.
import { canvasOf, h, ink, newId, segmented, shown, slider } from "./elements.js";

export function statistics(numbers) {
  let [least, greatest, sum, odd] = [Infinity, -Infinity, 0, 0];
  for (const value of numbers) {
    if (!Number.isFinite(value)) { odd += 1; continue; }
    if (value < least) least = value;
    if (value > greatest) greatest = value;
    sum += value;
  }
  const count = numbers.length - odd;
  const mean = sum / count;
  let square = 0;
  for (const value of numbers) if (Number.isFinite(value)) square += (value - mean) ** 2;
  return { count: numbers.length, least, greatest, mean, deviation: Math.sqrt(square / count), odd };
}

/** From dark violet over green to yellow; even steps look even. */
const steps = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];
const warmth = [[0, 0, 4], [40, 11, 84], [101, 21, 110], [159, 42, 99], [212, 72, 66], [245, 125, 21], [250, 193, 39], [252, 255, 164]];
const greys = [[0, 0, 0], [255, 255, 255]];
export const maps = { Green: steps, Warm: warmth, Grey: greys };
export function mapped(list, share) {
  const place = Math.min(Math.max(share, 0), 1) * (list.length - 1);
  const index = Math.min(Math.floor(place), list.length - 2);
  return list[index].map((part, channel) => part + (list[index + 1][channel] - part) * (place - index));
}

/** A canvas with a plane of numbers in the colours of a map. */
export function heatMap(numbers, rows, columns, { list = steps, least, greatest, offset = 0, step = 1, rowStep = columns } = {}) {
  const pixels = new Uint8ClampedArray(rows * columns * 4);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const value = numbers[offset + row * rowStep + column * step];
      const place = (row * columns + column) * 4;
      const [red, green, blue] = Number.isFinite(value) ? mapped(list, greatest > least ? (value - least) / (greatest - least) : 0.5) : [255, 0, 180];
      pixels.set([red, green, blue, 255], place);
    }
  }
  return canvasOf(columns, rows, pixels, rows <= 128 && columns <= 128 ? "pixels" : "");
}

/** Narrow pages get plots of their width, so that what is written in them keeps its size. */
const plotWidth = () => Math.min(640, Math.max(innerWidth - 110, 240));

function sharp(width, height, name) {
  const factor = Math.min(devicePixelRatio || 1, 2);
  const canvas = h("canvas", { class: "plot", width: width * factor, height: height * factor, role: "img", "aria-label": name });
  canvas.style.aspectRatio = `${width} / ${height}`;
  const context = canvas.getContext("2d");
  context.scale(factor, factor);
  return [canvas, context];
}

/** Values over their places. */
export function linePlot(numbers, name, { asBars = numbers.length <= 48 } = {}) {
  const [width, height, left, bottom] = [plotWidth(), 220, 58, 24];
  const [canvas, context] = sharp(width, height, name);
  const { least, greatest } = statistics(numbers);
  const [low, high] = asBars ? [Math.min(least, 0), Math.max(greatest, 0)] : [least, greatest];
  const span = high - low || 1;
  const y = (value) => 10 + (height - bottom - 14) * (1 - (value - low) / span);
  Object.assign(context, { font: "12px system-ui, sans-serif", fillStyle: ink("ink-soft"), strokeStyle: ink("line"), lineWidth: 1, textAlign: "right", textBaseline: "middle" });
  for (const value of [low, low + span / 2, high]) {
    context.fillText(shown(value, 3), left - 8, y(value));
    context.beginPath();
    context.moveTo(left, y(value));
    context.lineTo(width, y(value));
    context.stroke();
  }
  context.textAlign = "left";
  context.fillText("0", left, height - 10);
  context.textAlign = "right";
  context.fillText(String(numbers.length - 1), width - 2, height - 10);
  context.fillStyle = context.strokeStyle = ink("accent");
  const room = width - left - 4;
  if (asBars) {
    const step = room / numbers.length;
    numbers.forEach((value, index) => { if (Number.isFinite(value)) context.fillRect(left + index * step + step * 0.12, Math.min(y(0), y(value)), Math.max(step * 0.76, 1), Math.max(Math.abs(y(value) - y(0)), 1)); });
    return canvas;
  }
  context.lineWidth = 1.6;
  context.lineJoin = "round";
  context.beginPath();
  const step = Math.max(numbers.length / (room * 2), 1);
  let isOpen = false;
  for (let index = 0; index < numbers.length; index += step) {
    const value = numbers[Math.floor(index)];
    if (!Number.isFinite(value)) { isOpen = false; continue; }
    const x = left + (Math.floor(index) / Math.max(numbers.length - 1, 1)) * room;
    if (isOpen) context.lineTo(x, y(value)); else context.moveTo(x, y(value));
    isOpen = true;
  }
  context.stroke();
  return canvas;
}

/** How often values come. */
export function histogram(numbers, name, text = (number) => shown(number, 3)) {
  const [width, height] = [plotWidth(), 190];
  const [canvas, context] = sharp(width, height, name);
  const { least, greatest } = statistics(numbers);
  const bins = new Array(40).fill(0);
  const span = greatest - least || 1;
  for (const value of numbers) if (Number.isFinite(value)) bins[Math.min(Math.floor(((value - least) / span) * bins.length), bins.length - 1)] += 1;
  const top = Math.max(...bins, 1);
  context.fillStyle = ink("accent");
  const step = width / bins.length;
  bins.forEach((count, index) => { if (count) context.fillRect(index * step + 1, 10 + (height - 40) * (1 - count / top), step - 2, Math.max((height - 40) * (count / top), 1.5)); });
  Object.assign(context, { fillStyle: ink("line-strong"), font: "12px system-ui, sans-serif", textBaseline: "alphabetic" });
  context.fillRect(0, height - 29, width, 1);
  context.fillStyle = ink("ink-soft");
  context.fillText(text(least), 0, height - 10);
  context.textAlign = "right";
  context.fillText(text(greatest), width, height - 10);
  return canvas;
}

/** Everything that is worth seeing of an array. */
export function arrayView(output) {
  const { numbers, shape } = output;
  const facts = statistics(numbers);
  const list = h("dl", { class: "stats" },
    ...[["elements", facts.count], ["from", facts.least], ["to", facts.greatest], ["mean", facts.mean], ["deviation", facts.deviation]].map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, shown(value)))),
    facts.odd ? h("div", { class: "warn" }, h("dd", {}, `${facts.odd} not finite`)) : null);
  if (!numbers.length) return h("p", { class: "soft" }, "The array is empty.");
  if (numbers.length === 1) return h("p", { class: "headline tabular" }, shown(numbers[0], 6));
  const place = h("div", {});
  const inner = shape.filter((extent) => extent !== 1);
  const kinds = [];
  if (inner.length >= 2) kinds.push(["heat", "Heat map"]);
  if (inner.length === 3 && [3].includes(inner[0]) && inner[1] >= 8) kinds.unshift(["picture", "Image"]);
  kinds.push(["line", numbers.length <= 48 ? "Bars" : "Line"], ["histogram", "Histogram"], ["values", "Values"]);
  const draw = (kind) => place.replaceChildren({ heat: () => slices(output, inner, facts), picture: () => asPicture(output, inner, facts), line: () => linePlot(numbers, `${output.name} as a line`), histogram: () => histogram(numbers, `${output.name} as a histogram`), values: () => valueTable(numbers) }[kind]());
  draw(kinds[0][0]);
  return h("div", { class: "field" }, list, segmented(`How to show ${output.name}`, kinds, kinds[0][0], draw), place);
}

function slices(output, inner, facts) {
  const [rows, columns] = inner.slice(-2);
  const count = output.numbers.length / (rows * columns);
  const place = h("div", { class: "picture" });
  const show = (index) => {
    const canvas = heatMap(output.numbers, rows, columns, { ...facts, offset: index * rows * columns });
    enlarge(canvas);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${output.name}, plane ${index + 1} of ${count}`);
    place.replaceChildren(canvas);
  };
  show(0);
  return h("div", { class: "field" }, place, count > 1 ? slider("Plane", { min: 0, max: count - 1, step: 1, value: 0, text: (number) => `${number + 1} of ${count}` }, show) : null);
}

/** Small pictures are shown larger than they are. */
export function enlarge(canvas) {
  const longest = Math.max(canvas.width, canvas.height);
  if (longest < 320) canvas.style.width = `min(100%, ${Math.round(canvas.width * Math.max(Math.floor(320 / longest), 1))}px)`;
  return canvas;
}

function asPicture(output, [, rows, columns], facts) {
  const area = rows * columns;
  const [low, high] = facts.least >= -0.01 && facts.greatest <= 1.01 ? [0, 1] : facts.least >= -1 && facts.greatest > 2 && facts.greatest <= 256 ? [0, 255] : [facts.least, facts.greatest];
  const pixels = new Uint8ClampedArray(area * 4).fill(255);
  for (let pixel = 0; pixel < area; pixel += 1) for (let channel = 0; channel < 3; channel += 1) pixels[pixel * 4 + channel] = ((output.numbers[channel * area + pixel] - low) / (high - low || 1)) * 255;
  const canvas = enlarge(canvasOf(columns, rows, pixels));
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${output.name} as a picture`);
  return h("div", { class: "picture" }, canvas);
}

function valueTable(numbers) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Values" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Place"), h("th", { scope: "col" }, "Value"))),
    h("tbody", {}, [...numbers.slice(0, 500)].map((value, index) => h("tr", {}, h("td", { class: "soft" }, String(index)), h("td", {}, shown(value, 6)))))));
}
