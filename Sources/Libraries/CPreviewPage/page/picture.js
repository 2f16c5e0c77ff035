// Editors of pictures: dropped, pasted, chosen, taken by the camera, drawn.
import { postBytes } from "./exchange.js";
import { announce, button, bytesText, h, icon, newId, segmented } from "./elements.js";

/** A bitmap of any file: by the browser, or by the server for what browsers do not read (HEIC, TIFF). */
export async function bitmapOf(blob) {
  try {
    return await createImageBitmap(blob, { imageOrientation: "from-image" });
  } catch {
    return createImageBitmap(new Blob([await postBytes("/api/picture", await blob.arrayBuffer())], { type: "image/png" }));
  }
}

/** An editor for an image input, or for an array that holds a picture. */
export function pictureEditor(feature, { changed, failed, live }) {
  const isSmall = feature.width > 0 && feature.width <= 64 && feature.gray;
  const state = { blob: null, bitmap: null, name: "", mode: isSmall ? "draw" : "file", fit: "stretch", stream: null };
  const body = h("div", {});
  const caption = h("p", { class: "caption" });
  const modes = segmented("Source of the image",
    [["file", "Image", "picture"], ["camera", "Camera", "camera"], ["draw", "Draw", "draw"]], state.mode, show);
  const fitId = newId("fit");
  const fit = h("select", { id: fitId, onchange: () => { state.fit = fit.value; if (state.blob) changed(); } },
    h("option", { value: "stretch" }, "Stretched"), h("option", { value: "crop" }, "Cropped to the middle"), h("option", { value: "fit" }, "Whole, with bars"));
  const chooser = h("input", { type: "file", accept: "image/*,.heic,.heif,.tif,.tiff", class: "unseen", tabindex: "-1", "aria-hidden": "true",
    onchange: () => { if (chooser.files[0]) take(chooser.files[0], chooser.files[0].name); chooser.value = ""; } });

  async function take(blob, name) {
    failed("");
    try {
      const bitmap = await bitmapOf(blob);
      Object.assign(state, { blob, bitmap, name });
    } catch (error) {
      state.blob = state.bitmap = null;
      failed(error.message);
      if (state.mode === "file") showFile();
      return;
    }
    if (state.mode === "file") showFile();
    changed();
  }

  function stopCamera() {
    state.stream?.getTracks().forEach((track) => track.stop());
    state.stream = null;
  }

  function show(mode) {
    stopCamera();
    state.mode = mode;
    failed("");
    if (mode === "file") showFile();
    else if (mode === "camera") showCamera();
    else showDrawing();
  }

  function dropZone(...inside) {
    const zone = h("div", { class: state.bitmap ? "drop filled" : "drop",
      ondragover: (event) => { event.preventDefault(); zone.classList.add("over"); },
      ondragleave: () => zone.classList.remove("over"),
      ondrop: (event) => {
        event.preventDefault();
        zone.classList.remove("over");
        const file = event.dataTransfer.files[0];
        if (file) take(file, file.name);
      } }, inside);
    return zone;
  }

  function showFile() {
    const choose = () => chooser.click();
    if (state.bitmap) {
      const canvas = h("canvas", { class: "shown", width: state.bitmap.width, height: state.bitmap.height, role: "img", "aria-label": `The picture ${state.name}` });
      canvas.getContext("2d").drawImage(state.bitmap, 0, 0);
      caption.textContent = `${state.name} · ${state.bitmap.width} × ${state.bitmap.height}${state.blob.size ? ` · ${bytesText(state.blob.size)}` : ""}`;
      body.replaceChildren(dropZone(canvas));
      tools.replaceChildren(button("Another image", "picture", choose), button("Remove", "clear", clear, "quiet"));
    } else {
      caption.textContent = "";
      body.replaceChildren(dropZone(h("div", { class: "drop-hint" }, icon("picture", "big"),
        h("p", {}, "Drop an image here, or paste one."),
        h("div", { class: "buttons" }, button("Choose an image", null, choose, "primary"), button("Use a sample", null, () => sample().then((blob) => take(blob, "sample"))))) ));
      tools.replaceChildren();
    }
  }

  function clear() {
    Object.assign(state, { blob: null, bitmap: null });
    show(state.mode);
    changed();
  }

  async function showCamera() {
    tools.replaceChildren();
    caption.textContent = "";
    const video = h("video", { class: "mirrored", muted: true, playsinline: true, "aria-label": "The camera's image" });
    body.replaceChildren(h("div", { class: "drop filled" }, video));
    try {
      state.stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment", width: { ideal: 960 } } });
    } catch (error) {
      body.replaceChildren(h("div", { class: "drop" }, h("div", { class: "drop-hint" }, icon("camera", "big"),
        h("p", {}, error.name === "NotAllowedError" ? "The browser does not let this page use the camera. Allow it beside the address, then try again." : "There is no camera that answers."),
        button("Try again", null, showCamera))));
      return;
    }
    video.srcObject = state.stream;
    await video.play();
    const snap = async () => {
      const canvas = h("canvas", { width: video.videoWidth, height: video.videoHeight });
      const context = canvas.getContext("2d");
      context.translate(canvas.width, 0);
      context.scale(-1, 1);
      context.drawImage(video, 0, 0);
      state.bitmap = await createImageBitmap(canvas);
      state.blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.92));
      state.name = "camera";
    };
    let isLive = false;
    const liveButton = button("Live", "play", async () => {
      isLive = !isLive;
      liveButton.setAttribute("aria-pressed", String(isLive));
      while (isLive && state.stream && state.mode === "camera") {
        await snap();
        await live();
        await new Promise((done) => requestAnimationFrame(done));
      }
    });
    liveButton.setAttribute("aria-pressed", "false");
    tools.replaceChildren(button("Take an image", "camera", async () => { await snap(); changed(); }, "primary"), liveButton);
  }

  function showDrawing() {
    const pad = drawingPad(feature, (blob, bitmap) => {
      Object.assign(state, { blob, bitmap, name: "drawing" });
      changed();
    });
    caption.textContent = "";
    body.replaceChildren(pad.element);
    tools.replaceChildren(pad.tools);
  }

  const tools = h("div", { class: "buttons" });
  const hasShape = feature.width > 0 && feature.height > 0;
  const element = h("div", { class: "field" }, h("div", { class: "buttons spread" }, modes,
    hasShape && !isSmall ? h("span", { class: "buttons" }, h("label", { class: "small soft", for: fitId }, "Scaled"), fit) : null),
  body, h("div", { class: "buttons spread" }, tools, caption), chooser);
  document.addEventListener("paste", (event) => {
    const item = [...(event.clipboardData?.files ?? [])].find((file) => file.type.startsWith("image/"));
    if (item && element.isConnected) { show("file"); take(item, "pasted"); }
  });
  show(state.mode);
  return {
    element,
    get isReady() { return state.blob !== null; },
    get bitmap() { return state.bitmap; },
    get fit() { return state.fit; },
    put: async (parcel) => ({ form: "picture", fit: state.fit, ...parcel.add(await state.blob.arrayBuffer()) }),
    /** For arrays: red, green and blue, or grey, of each pixel from 0 to 255, at a size. */
    samples: (width, height) => {
      const canvas = new OffscreenCanvas(width, height);
      const context = canvas.getContext("2d");
      context.imageSmoothingQuality = "high";
      context.drawImage(state.bitmap, 0, 0, width, height);
      return context.getImageData(0, 0, width, height).data;
    },
    snapshot: async () => ({ blob: state.blob, bitmap: state.bitmap }),
    take, clear,
  };
}

/** A canvas for a finger, a pen or a mouse, and what the model sees of it. */
export function drawingPad(feature, drawn) {
  const size = 336;
  const isLightOnDark = feature.gray !== false || feature.width <= 64;
  let isInverted = false;
  const canvas = h("canvas", { class: "draw", width: size, height: size, tabindex: "0", role: "img",
    "aria-label": "Drawing area. Draw with a pointer, or move with the arrow keys and hold Space to draw." });
  const seen = h("canvas", { width: Math.min(feature.width || 64, 224), height: Math.min(feature.height || 64, 224), "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  const paper = () => (isLightOnDark !== isInverted ? "#000" : "#fff");
  const pen = () => (isLightOnDark !== isInverted ? "#fff" : "#000");
  let width = feature.width && feature.width <= 64 ? size / 9 : size / 40;
  let place = null;
  let timer = 0;
  const cursor = { x: size / 2, y: size / 2, isDown: false };

  function wipe() {
    context.fillStyle = paper();
    context.fillRect(0, 0, size, size);
    look();
  }
  function look() {
    const target = seen.getContext("2d");
    target.imageSmoothingQuality = "high";
    target.drawImage(canvas, 0, 0, seen.width, seen.height);
  }
  function line(from, to) {
    Object.assign(context, { strokeStyle: pen(), lineWidth: width, lineCap: "round", lineJoin: "round" });
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x + 0.01, to.y);
    context.stroke();
    look();
    clearTimeout(timer);
    timer = setTimeout(done, 120);
  }
  async function done() {
    const blob = await new Promise((ready) => canvas.toBlob(ready));
    drawn(blob, await createImageBitmap(canvas));
  }
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: (event.clientX - box.left) * size / box.width, y: (event.clientY - box.top) * size / box.height };
  };
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); place = at(event); line(place, place); });
  canvas.addEventListener("pointermove", (event) => {
    if (!place) return;
    for (const each of event.getCoalescedEvents?.() ?? [event]) { const next = at(each); line(place, next); place = next; }
  });
  canvas.addEventListener("pointerup", () => { place = null; });
  canvas.addEventListener("pointercancel", () => { place = null; });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12] }[event.key];
    if (event.key === " ") { event.preventDefault(); cursor.isDown = true; line(cursor, cursor); }
    if (!step) return;
    event.preventDefault();
    const next = { x: Math.min(Math.max(cursor.x + step[0], 8), size - 8), y: Math.min(Math.max(cursor.y + step[1], 8), size - 8) };
    if (cursor.isDown) line({ ...cursor }, next);
    Object.assign(cursor, next);
  });
  canvas.addEventListener("keyup", (event) => { if (event.key === " ") cursor.isDown = false; });
  const widthId = newId("pen");
  const brush = h("input", { type: "range", id: widthId, min: 4, max: 60, value: width, oninput: () => { width = Number(brush.value); } });
  wipe();
  return {
    element: h("div", { class: "draw-row" }, canvas,
      h("div", { class: "buttons" }, h("div", { class: "seen" }, seen, h("span", { class: "small soft" }, "Input of", h("br"), "the model")),
        h("div", { class: "control" }, h("label", { for: widthId }, "Pen"), brush))),
    tools: h("div", { class: "buttons" }, button("Clear", "clear", () => { wipe(); announce("Cleared"); }),
      button("Swap black and white", null, () => { isInverted = !isInverted; context.globalCompositeOperation = "difference"; context.fillStyle = "#fff"; context.fillRect(0, 0, size, size); context.globalCompositeOperation = "source-over"; look(); done(); }, "quiet")),
    wipe,
    snapshot: async () => ({ blob: await new Promise((ready) => canvas.toBlob(ready)), bitmap: await createImageBitmap(canvas) }),
  };
}

/** A small landscape, for who has no picture at hand. */
async function sample() {
  const canvas = h("canvas", { width: 640, height: 480 });
  const context = canvas.getContext("2d");
  const sky = context.createLinearGradient(0, 0, 0, 330);
  sky.addColorStop(0, "#3b6fd4");
  sky.addColorStop(0.7, "#f7b267");
  sky.addColorStop(1, "#f4845f");
  context.fillStyle = sky;
  context.fillRect(0, 0, 640, 480);
  context.fillStyle = "#fff4d6";
  context.beginPath();
  context.arc(430, 190, 46, 0, 7);
  context.fill();
  for (const [base, height, shade, step] of [[300, 120, "#54478c", 71], [350, 90, "#3a3360", 53], [400, 60, "#241f3d", 39]]) {
    context.fillStyle = shade;
    context.beginPath();
    context.moveTo(0, 480);
    for (let x = 0; x <= 640; x += 4) context.lineTo(x, base - height * Math.abs(Math.sin(x / step + base)) * Math.cos(x / 290 + base / 90) ** 2);
    context.lineTo(640, 480);
    context.fill();
  }
  return new Promise((done) => canvas.toBlob(done));
}
