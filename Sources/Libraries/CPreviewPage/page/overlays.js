// Overlays on or beside the input's picture: boxes, masks, depth, points, styles.
import { canvasOf, color, css, h, ink, percent, shown, slider, segmented } from "./elements.js";
import { enlarge, heatMap, maps, mapped, statistics } from "./plots.js";

/** Where the model's picture lies in the shown one, by how it was scaled: x, y, width and height in pixels. */
function region(bitmap, feature, fit) {
  const { width, height } = bitmap;
  if (fit === "stretch" || !feature.width) return { x: 0, y: 0, width, height };
  const scale = (fit === "crop" ? Math.min : Math.max)(width / feature.width, height / feature.height);
  const [w, hgt] = [feature.width * scale, feature.height * scale];
  return { x: (width - w) / 2, y: (height - hgt) / 2, width: w, height: hgt };
}

function pictureCanvas(bitmap, name) {
  const scale = Math.min(1, 1400 / Math.max(bitmap.width, bitmap.height));
  const canvas = h("canvas", { width: Math.max(Math.round(bitmap.width * scale), 1), height: Math.max(Math.round(bitmap.height * scale), 1), role: "img", "aria-label": name });
  const context = canvas.getContext("2d");
  const place = (box) => ({ x: box.x * scale, y: box.y * scale, width: box.width * scale, height: box.height * scale });
  return [canvas, context, place];
}

const scalar = (output, index) => output.numbers[index];

export function boxesView(model, outputs, picture) {
  const boxes = outputs.find((output) => output.name === model.roles.boxes);
  const confidences = outputs.find((output) => output.name === model.roles.confidences);
  const count = boxes.shape.length >= 2 ? boxes.shape[boxes.shape.length - 2] : boxes.numbers.length / 4;
  const classes = count ? confidences.numbers.length / count : 0;
  const found = [];
  for (let box = 0; box < count; box += 1) {
    let best = 0;
    for (let index = 1; index < classes; index += 1) if (scalar(confidences, box * classes + index) > scalar(confidences, box * classes + best)) best = index;
    const confidence = scalar(confidences, box * classes + best);
    // Vision's form: the middle and the size, as parts of the picture, from the upper left corner.
    const [x, y, width, height] = [0, 1, 2, 3].map((part) => scalar(boxes, box * 4 + part));
    if (confidence > 0) found.push({ best, confidence, box: { x: x - width / 2, y: y - height / 2, width, height } });
  }
  found.sort((left, right) => right.confidence - left.confidence);
  const name = (index) => model.labels[index] ?? `class ${index}`;
  const [canvas, context, place] = pictureCanvas(picture.bitmap, "The image with the boxes that were found");
  const list = h("ol", { class: "bars" });
  const headline = h("p", { class: "headline" });
  function draw(least) {
    context.drawImage(picture.bitmap, 0, 0, canvas.width, canvas.height);
    const all = region(picture.bitmap, picture.feature, picture.fit);
    const shownBoxes = found.filter((each) => each.confidence >= least).slice(0, 100);
    const line = Math.max(canvas.width / 260, 2);
    const size = Math.max(canvas.width / 34, 13);
    for (const each of [...shownBoxes].reverse()) {
      const box = place({ x: all.x + each.box.x * all.width, y: all.y + each.box.y * all.height, width: each.box.width * all.width, height: each.box.height * all.height });
      const shade = css(color(each.best));
      Object.assign(context, { strokeStyle: shade, lineWidth: line, lineJoin: "round", font: `600 ${size}px system-ui, sans-serif`, textBaseline: "top" });
      context.beginPath();
      context.roundRect(box.x, box.y, box.width, box.height, line * 2);
      context.stroke();
      const text = `${name(each.best)} ${Math.round(each.confidence * 100)} %`;
      const width = context.measureText(text).width + size * 0.7;
      const top = box.y >= size * 1.45 ? box.y - size * 1.45 : box.y + line;
      const left = Math.min(Math.max(box.x - line / 2, 0), Math.max(canvas.width - width, 0));
      context.fillStyle = shade;
      context.beginPath();
      context.roundRect(left, top, width, size * 1.4, size * 0.3);
      context.fill();
      context.fillStyle = "#fff";
      context.fillText(text, left + size * 0.35, top + size * 0.2);
    }
    const counts = new Map();
    for (const each of shownBoxes) counts.set(each.best, (counts.get(each.best) ?? 0) + 1);
    headline.textContent = shownBoxes.length ? [...counts].map(([index, number]) => (number > 1 ? `${number} × ${name(index)}` : name(index))).join(", ") : "Nothing found";
    list.replaceChildren(...shownBoxes.slice(0, 30).map((each) => bar(name(each.best), each.confidence, percent(each.confidence), css(color(each.best)))));
  }
  draw(0);
  return h("div", { class: "answer" }, headline, h("div", { class: "picture" }, enlarge(canvas)), slider("Show from", { min: 0, max: 1, step: 0.01, value: 0, text: percent }, draw),
    found.length ? h("details", { open: found.length <= 8 }, h("summary", {}, `${found.length} ${found.length === 1 ? "box" : "boxes"}`), list) : null);
}

export function bar(name, share, text, fill) {
  return h("li", { class: "bar strong" }, h("span", { class: "bar-name" }, name), h("span", { class: "bar-value" }, text),
    h("span", { class: "bar-track", "aria-hidden": "true" }, h("span", { class: "bar-fill", vars: { share: `${Math.min(Math.max(share, 0), 1) * 100}%`, ...(fill ? { fill } : {}) } })));
}

/** The class of each place, from numbers of classes or a score for each. */
function classesOf(output) {
  const inner = output.shape.filter((extent) => extent !== 1);
  if (output.type === "image") {
    const places = Array.from({ length: output.width * output.height }, (_, index) => (output.pixels[index * 4] >= 128 ? 1 : 0));
    return { rows: output.height, columns: output.width, places, count: 2 };
  }
  if (inner.length === 2) {
    const [rows, columns] = inner;
    const facts = statistics(output.numbers);
    const isWhole = output.numbers.every((value) => Number.isInteger(value));
    const places = Array.from(output.numbers, (value) => (isWhole ? Math.max(value, 0) : value >= (facts.least < 0 ? 0 : 0.5) ? 1 : 0));
    return { rows, columns, places, count: isWhole ? facts.greatest + 1 : 2 };
  }
  const isLast = inner[2] < inner[0] && inner[2] < inner[1];
  const [count, rows, columns] = isLast ? [inner[2], inner[0], inner[1]] : inner;
  const [classStep, placeStep] = isLast ? [1, count] : [rows * columns, 1];
  const places = Array.from({ length: rows * columns }, (_, place) => {
    let best = 0;
    for (let index = 1; index < count; index += 1) if (output.numbers[index * classStep + place * placeStep] > output.numbers[best * classStep + place * placeStep]) best = index;
    return best;
  });
  return { rows, columns, places, count };
}

const hex = (text) => { const found = /^#?([0-9a-f]{6})$/i.exec(text ?? ""); return found ? [0, 2, 4].map((place) => parseInt(found[1].slice(place, place + 2), 16)) : null; };

export function maskView(model, outputs, picture) {
  const output = outputs.find((each) => each.name === model.roles.mask);
  const { rows, columns, places } = classesOf(output.type === "image" ? { ...output, shape: [] } : output);
  const shares = new Map();
  for (const each of places) shares.set(each, (shares.get(each) ?? 0) + 1);
  const present = [...shares].sort((left, right) => right[1] - left[1]).map(([index]) => index);
  const stated = model.parameters ?? {};
  const name = (index) => stated.labels?.[index] ?? model.labels[index] ?? (index === 0 ? "background" : `class ${index}`);
  const isGround = (index) => /^(background|--|other|void|unlabeled)$/i.test(name(index));
  const shade = (index) => hex(stated.colors?.[index]) ?? (isGround(index) ? [120, 120, 128] : color(index === 0 ? 5 : index - 1));
  const hiddenClasses = new Set(present.filter(isGround));
  let opacity = 0.6;
  const [canvas, context, place] = pictureCanvas(picture.bitmap, `The picture with ${present.map(name).join(", ")} coloured`);
  function draw() {
    const pixels = new Uint8ClampedArray(rows * columns * 4);
    places.forEach((index, pixel) => { if (!hiddenClasses.has(index)) pixels.set([...shade(index), 255], pixel * 4); });
    const mask = canvasOf(columns, rows, pixels);
    context.globalAlpha = 1;
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(picture.bitmap, 0, 0, canvas.width, canvas.height);
    const box = place(region(picture.bitmap, picture.feature, picture.fit));
    context.globalAlpha = opacity;
    context.imageSmoothingEnabled = false;
    context.drawImage(mask, box.x, box.y, box.width, box.height);
    context.imageSmoothingEnabled = true;
  }
  draw();
  const legend = h("div", { class: "legend", role: "group", "aria-label": "Classes that are coloured" }, present.slice(0, 40).map((index) => {
    const each = h("button", { type: "button", "aria-pressed": String(!hiddenClasses.has(index)), onclick: () => {
      if (!hiddenClasses.delete(index)) hiddenClasses.add(index);
      each.setAttribute("aria-pressed", String(!hiddenClasses.has(index)));
      draw();
    } }, h("span", { class: "swatch", vars: { fill: css(shade(index)) } }), `${name(index)} · ${percent(shares.get(index) / places.length)}`);
    return each;
  }));
  const main = present.filter((index) => !isGround(index));
  return h("div", { class: "answer" }, h("p", { class: "headline" }, main.length ? main.slice(0, 4).map(name).join(", ") : name(present[0] ?? 0)),
    h("div", { class: "picture" }, enlarge(canvas)), slider("Strength of the colours", { min: 0, max: 1, step: 0.01, value: opacity, text: percent }, (value) => { opacity = value; draw(); }), legend);
}

/** Two pictures, one before the other, with a slider between them. */
function compare(before, after, [beforeName, afterName]) {
  after.classList.add("after");
  const place = h("div", { class: "compare", vars: { split: "50%" } }, before, after);
  const ratio = before.width / before.height;
  place.style.width = `min(100%, ${Math.round(Math.min(Math.max(before.width, 360), 520 * ratio))}px)`;
  return h("div", { class: "field" }, place, h("div", { class: "tag-row", "aria-hidden": "true" }, h("span", {}, beforeName), h("span", {}, afterName)),
    slider(`${beforeName} | ${afterName}`, { min: 0, max: 100, step: 1, value: 50, text: (value) => `${value} %` }, (value) => place.style.setProperty("--split", `${value}%`)));
}

function original(picture) {
  const [canvas, context] = pictureCanvas(picture.bitmap, "The image");
  context.drawImage(picture.bitmap, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** The output of a size of its own laid over the picture's size. */
function fitted(source, like, picture, place) {
  const canvas = h("canvas", { width: like.width, height: like.height, role: "img", "aria-label": "The model's image" });
  const scale = like.width / picture.bitmap.width;
  const box = place ?? region(picture.bitmap, picture.feature, picture.fit);
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(source, box.x * scale, box.y * scale, box.width * scale, box.height * scale);
  return canvas;
}

export function madeView(output, picture) {
  const made = canvasOf(output.width, output.height, output.pixels);
  if (!picture?.bitmap) return h("div", { class: "picture" }, enlarge(made));
  const before = original(picture);
  return h("div", { class: "answer" }, compare(before, fitted(made, before, picture), ["Before", "After"]),
    h("p", { class: "caption" }, `${output.name}: ${output.width} × ${output.height}`));
}

export function depthView(model, outputs, picture) {
  const output = outputs.find((each) => each.name === model.roles.depth);
  const numbers = output.type === "image" ? Float32Array.from({ length: output.width * output.height }, (_, index) => output.pixels[index * 4]) : output.numbers;
  const inner = output.type === "image" ? [output.height, output.width] : output.shape.filter((extent) => extent !== 1);
  const [rows, columns] = inner;
  const facts = statistics(numbers);
  const place = h("div", {});
  let list = maps.Warm;
  let isFlipped = false;
  function draw() {
    const used = isFlipped ? [...list].reverse() : list;
    const map = heatMap(numbers, rows, columns, { ...facts, list: used });
    const before = original(picture);
    const scaleBar = h("canvas", { width: 256, height: 12, class: "plot", "aria-hidden": "true" });
    const context = scaleBar.getContext("2d");
    for (let x = 0; x < 256; x += 1) { context.fillStyle = css(mapped(used, x / 255).map(Math.round)); context.fillRect(x, 0, 1, 12); }
    scaleBar.style.borderRadius = "6px";
    place.replaceChildren(compare(before, fitted(map, before, picture), ["Image", "Depth"]), scaleBar,
      h("div", { class: "tag-row tabular" }, h("span", {}, shown(facts.least)), h("span", {}, `mean ${shown(facts.mean)}`), h("span", {}, shown(facts.greatest))));
  }
  draw();
  return h("div", { class: "answer" }, h("div", { class: "buttons" }, segmented("Colours", Object.keys(maps).map((name) => [name, name]), "Warm", (name) => { list = maps[name]; draw(); }),
    segmented("Direction", [["a", "Near bright"], ["b", "Near dark"]], "a", (value) => { isFlipped = value === "b"; draw(); })), place);
}

const limbs = {
  // PoseNet's and COCO's 17 joints.
  17: [[0, 1], [0, 2], [1, 3], [2, 4], [5, 6], [5, 7], [7, 9], [6, 8], [8, 10], [5, 11], [6, 12], [11, 12], [11, 13], [13, 15], [12, 14], [14, 16]],
  // 21 joints of a hand: the wrist, then four of each finger.
  21: [0, 4, 8, 12, 16].flatMap((start) => [[0, start + 1], [start + 1, start + 2], [start + 2, start + 3], [start + 3, start + 4]]),
};
const jointNames = ["nose", "left eye", "right eye", "left ear", "right ear", "left shoulder", "right shoulder", "left elbow", "right elbow", "left wrist", "right wrist", "left hip", "right hip", "left knee", "right knee", "left ankle", "right ankle"];

/** Joints as parts of the picture with a confidence each. */
function joints(model, outputs, feature) {
  const heat = outputs.find((each) => each.name === model.roles.keypoints);
  const inner = heat.shape.filter((extent) => extent !== 1);
  if (inner.length === 2 && inner[1] <= 4) {
    const facts = statistics(heat.numbers);
    const isPixels = facts.greatest > 2;
    return Array.from({ length: inner[0] }, (_, joint) => {
      const [x, y, third] = [0, 1, 2].map((part) => (part < inner[1] ? heat.numbers[joint * inner[1] + part] : 1));
      return { x: isPixels ? x / feature.width : x, y: isPixels ? y / feature.height : y, confidence: inner[1] === 3 ? third : 1 };
    });
  }
  const isLast = inner[2] < inner[0] && inner[2] < inner[1];
  const [count, rows, columns] = isLast ? [inner[2], inner[0], inner[1]] : inner;
  const [jointStep, placeStep] = isLast ? [1, count] : [rows * columns, 1];
  const offsets = outputs.find((each) => each.name === model.roles.offsets);
  const stride = model.parameters?.output_stride ?? (feature.width - 1) / Math.max(columns - 1, 1);
  const isScore = statistics(heat.numbers).least >= 0;
  return Array.from({ length: count }, (_, joint) => {
    let best = 0;
    for (let place = 1; place < rows * columns; place += 1) if (heat.numbers[joint * jointStep + place * placeStep] > heat.numbers[joint * jointStep + best * placeStep]) best = place;
    const value = heat.numbers[joint * jointStep + best * placeStep];
    const [row, column] = [Math.floor(best / columns), best % columns];
    // PoseNet's offsets: first those of the rows, then those of the columns.
    const dy = offsets ? offsets.numbers[(isLast ? best * 2 * count + joint : joint * rows * columns + best)] : 0;
    const dx = offsets ? offsets.numbers[(isLast ? best * 2 * count + joint + count : (joint + count) * rows * columns + best)] : 0;
    return { x: (column * stride + dx) / feature.width, y: (row * stride + dy) / feature.height, confidence: isScore ? value : 1 / (1 + Math.exp(-value)) };
  });
}

export function poseView(model, outputs, picture) {
  const found = joints(model, outputs, picture.feature);
  const [canvas, context, place] = pictureCanvas(picture.bitmap, "The image with the points that were found");
  const all = region(picture.bitmap, picture.feature, picture.fit);
  const name = (index) => model.labels[index] ?? (found.length === 17 ? jointNames[index] : `point ${index}`);
  const headline = h("p", { class: "headline" });
  function draw(least) {
    context.drawImage(picture.bitmap, 0, 0, canvas.width, canvas.height);
    const at = (joint) => place({ x: all.x + joint.x * all.width, y: all.y + joint.y * all.height, width: 0, height: 0 });
    const size = Math.max(canvas.width / 110, 3);
    context.lineCap = "round";
    (limbs[found.length] ?? []).forEach(([from, to], index) => {
      if (found[from].confidence < least || found[to].confidence < least) return;
      const [a, b] = [at(found[from]), at(found[to])];
      for (const [shade, width] of [["rgb(0 0 0 / .5)", size * 1.5], [css(color(index)), size]]) {
        Object.assign(context, { strokeStyle: shade, lineWidth: width });
        context.beginPath();
        context.moveTo(a.x, a.y);
        context.lineTo(b.x, b.y);
        context.stroke();
      }
    });
    for (const joint of found) {
      if (joint.confidence < least) continue;
      const spot = at(joint);
      Object.assign(context, { fillStyle: "#fff", strokeStyle: "rgb(0 0 0 / .75)", lineWidth: size * 0.4 });
      context.beginPath();
      context.arc(spot.x, spot.y, size, 0, 7);
      context.fill();
      context.stroke();
    }
    const count = found.filter((joint) => joint.confidence >= least).length;
    headline.textContent = `${count} of ${found.length} points`;
  }
  draw(0.3);
  return h("div", { class: "answer" }, headline, h("div", { class: "picture" }, enlarge(canvas)), slider("Show from", { min: 0, max: 1, step: 0.01, value: 0.3, text: percent }, draw),
    h("details", {}, h("summary", {}, "All points"), h("ol", { class: "bars" }, found.map((joint, index) => bar(name(index), joint.confidence, `${shown(joint.x, 3)}, ${shown(joint.y, 3)} · ${percent(joint.confidence)}`)))));
}
