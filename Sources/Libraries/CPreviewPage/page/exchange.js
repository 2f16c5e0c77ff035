// The exchange with the server: JSON with blobs of bytes beside it (see Parcel.swift).

export class Parcel {
  #blobs = [];
  #size = 0;

  /** Adds bytes; the result names them in the JSON. */
  add(bytes) {
    const view = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const offset = Math.ceil(this.#size / 8) * 8;
    this.#blobs.push([offset, view]);
    this.#size = offset + view.length;
    return { offset, length: view.length };
  }

  bytes(json) {
    const text = new TextEncoder().encode(JSON.stringify(json));
    const start = Math.ceil((4 + text.length) / 8) * 8;
    const all = new Uint8Array(start + this.#size);
    new DataView(all.buffer).setUint32(0, text.length, true);
    all.set(text, 4);
    for (const [offset, view] of this.#blobs) all.set(view, start + offset);
    return all;
  }
}

/** An error message of the server; `input` is the input that it is about. */
export class ModelProblem extends Error {
  constructor(message, input) { super(message); this.input = input; }
}

async function ask(path, body, signal) {
  let response;
  try {
    response = await fetch(path, { method: body === undefined ? "GET" : "POST", body, signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ModelProblem("The preview has ended, or cannot be reached. Start it again in the terminal.");
  }
  if (response.ok) return response;
  const text = await response.text();
  let problem = { error: text.trim() };
  try { problem = JSON.parse(text); } catch { /* a plain sentence */ }
  throw new ModelProblem(problem.error || `The server answered ${response.status}.`, problem.input);
}

export const getModel = async () => (await ask("/api/model")).json();
export const post = async (path, body, signal) => (await ask(path, body, signal)).json();
export const postBytes = async (path, body, signal) => (await ask(path, body, signal)).arrayBuffer();

/** Outputs by name; arrays have `numbers`, pictures `pixels`. */
export async function predict(body, signal) {
  const buffer = await postBytes("/api/predict", body, signal);
  const length = new DataView(buffer).getUint32(0, true);
  const json = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const start = Math.ceil((4 + length) / 8) * 8;
  for (const output of json.outputs ?? []) {
    if (output.offset === undefined) continue;
    const place = start + output.offset;
    if (output.type === "image") output.pixels = new Uint8ClampedArray(buffer, place, output.length);
    else if (output.form === "fp64") output.numbers = new Float64Array(buffer, place, output.length / 8);
    else if (output.form === "fp32") output.numbers = new Float32Array(buffer, place, output.length / 4);
    else output.numbers = new Int32Array(buffer, place, output.length / 4);
  }
  return json;
}

/** Server-sent events of a POST; calls `receive(name, data)` for each. */
export async function events(path, body, receive, signal) {
  const response = await ask(path, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    let end;
    while ((end = rest.indexOf("\n\n")) >= 0) {
      const lines = rest.slice(0, end).split("\n");
      rest = rest.slice(end + 2);
      const name = lines.find((line) => line.startsWith("event: "))?.slice(7);
      const data = lines.find((line) => line.startsWith("data: "))?.slice(6);
      if (name && data) receive(name, JSON.parse(data));
    }
  }
}
