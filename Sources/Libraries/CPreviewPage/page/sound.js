// Sounds: dropped or recorded; recordings become WAV files here.
import { announce, button, h, icon, ink } from "./elements.js";

/** 16-bit WAV of one channel. */
export function wav(samples, rate) {
  const bytes = new DataView(new ArrayBuffer(44 + samples.length * 2));
  const text = (place, word) => [...word].forEach((letter, index) => bytes.setUint8(place + index, letter.charCodeAt(0)));
  text(0, "RIFF");
  bytes.setUint32(4, 36 + samples.length * 2, true);
  text(8, "WAVEfmt ");
  bytes.setUint32(16, 16, true);
  bytes.setUint16(20, 1, true);
  bytes.setUint16(22, 1, true);
  bytes.setUint32(24, rate, true);
  bytes.setUint32(28, rate * 2, true);
  bytes.setUint16(32, 2, true);
  bytes.setUint16(34, 16, true);
  text(36, "data");
  bytes.setUint32(40, samples.length * 2, true);
  samples.forEach((value, index) => bytes.setInt16(44 + index * 2, Math.max(-1, Math.min(1, value)) * 32767, true));
  return new Blob([bytes], { type: "audio/wav" });
}

/** The samples of the first channel at a rate; `null` for a form that the browser does not read. */
export async function samplesOf(blob, rate) {
  try {
    const context = new OfflineAudioContext(1, 1, rate);
    return (await context.decodeAudioData(await blob.arrayBuffer())).getChannelData(0);
  } catch {
    return null;
  }
}

export function drawWave(canvas, samples) {
  const context = canvas.getContext("2d");
  const [width, height] = [canvas.width, canvas.height];
  context.clearRect(0, 0, width, height);
  context.fillStyle = ink("accent");
  const step = Math.max(samples.length / width, 1);
  for (let x = 0; x < width; x += 3) {
    let peak = 0;
    for (let index = Math.floor(x * step); index < (x + 3) * step && index < samples.length; index += 1) peak = Math.max(peak, Math.abs(samples[index]));
    const size = Math.max(peak * height * 0.94, 2);
    context.fillRect(x, (height - size) / 2, 2, size);
  }
}

const endings = ".wav,.wave,.flac,.ogg,.opus,.mp3,.aif,.aiff,.caf,.au,audio/*";

/** An editor for sound files; `rate` is that of the model. */
export function soundEditor({ changed, failed }) {
  const state = { blob: null, name: "", samples: null, url: null, recording: null };
  const chooser = h("input", { type: "file", accept: endings, class: "unseen", tabindex: "-1", "aria-hidden": "true",
    onchange: () => { if (chooser.files[0]) take(chooser.files[0], chooser.files[0].name); chooser.value = ""; } });
  const wave = h("canvas", { class: "wave", width: 900, height: 180, role: "img", "aria-label": "The sound's wave" });
  const player = h("audio", { controls: true });
  const zone = h("div", { class: "drop small",
    ondragover: (event) => { event.preventDefault(); zone.classList.add("over"); },
    ondragleave: () => zone.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); zone.classList.remove("over"); const file = event.dataTransfer.files[0]; if (file) take(file, file.name); } });
  const caption = h("p", { class: "caption" });
  const record = button("Record", "microphone", toggle);
  const tools = h("div", { class: "buttons" }, button("Choose a sound", "sound", () => chooser.click(), "primary"), record, button("Use a sample", null, () => take(melody(), "sample.wav")));

  async function take(blob, name) {
    failed("");
    if (state.url) URL.revokeObjectURL(state.url);
    Object.assign(state, { blob, name, samples: await samplesOf(blob, 16000), url: URL.createObjectURL(blob) });
    show();
    changed();
  }

  function show() {
    zone.classList.toggle("filled", state.blob !== null);
    if (!state.blob) {
      zone.replaceChildren(h("div", { class: "drop-hint" }, icon("sound", "big"), h("p", {}, "Drop a sound here: WAV, FLAC, Ogg, MP3, AIFF.")));
      return;
    }
    if (state.samples) drawWave(wave, state.samples);
    player.src = state.url;
    zone.replaceChildren(h("div", { class: "drop-hint" }, state.samples ? wave : null, player));
    caption.textContent = state.samples ? `${state.name} · ${(state.samples.length / 16000).toFixed(1)} s` : state.name;
  }

  async function toggle() {
    if (state.recording) {
      const samples = state.recording.stop();
      state.recording = null;
      record.classList.remove("recording");
      record.lastChild.textContent = "Record";
      if (samples.length) await take(wav(samples, 16000), "recording.wav");
      return;
    }
    try {
      state.recording = await recorder((seconds) => { record.lastChild.textContent = `Stop · ${seconds.toFixed(1)} s`; });
      record.classList.add("recording");
      announce("Recording");
    } catch (error) {
      failed(error.name === "NotAllowedError" ? "The browser does not let this page use the microphone. Allow it beside the address, then try again." : "There is no microphone that answers.");
    }
  }
  show();
  return {
    element: h("div", { class: "field" }, zone, h("div", { class: "buttons spread" }, tools, caption), chooser),
    get isReady() { return state.blob !== null; },
    get samples() { return state.samples; },
    player,
    file: async (parcel) => ({ name: state.name, ...parcel.add(await state.blob.arrayBuffer()) }),
  };
}

async function recorder(tick) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
  const context = new AudioContext({ sampleRate: 16000 });
  const source = context.createMediaStreamSource(stream);
  await context.audioWorklet.addModule("/recorder.js");
  const node = new AudioWorkletNode(context, "recorder", { numberOfOutputs: 0 });
  const parts = [];
  let count = 0;
  node.port.onmessage = ({ data }) => {
    parts.push(data);
    count += data.length;
    tick(count / 16000);
  };
  source.connect(node);
  return {
    stop() {
      source.disconnect();
      stream.getTracks().forEach((track) => track.stop());
      context.close();
      const all = new Float32Array(count);
      let place = 0;
      for (const part of parts) { all.set(part, place); place += part.length; }
      return all;
    },
  };
}

/** Three seconds of a tune, for who has no sound at hand. */
function melody() {
  const rate = 16000;
  const notes = [440, 554.37, 659.25, 880, 659.25, 554.37];
  const samples = new Float32Array(rate * 3);
  for (let index = 0; index < samples.length; index += 1) {
    const note = Math.floor(index / (rate / 2)) % notes.length;
    const time = (index % (rate / 2)) / rate;
    samples[index] = 0.4 * Math.exp(-time * 5) * (Math.sin(2 * Math.PI * notes[note] * time) + 0.3 * Math.sin(4 * Math.PI * notes[note] * time));
  }
  return wav(samples, rate);
}
