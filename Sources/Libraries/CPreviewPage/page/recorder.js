// Hands on what the microphone hears, from the thread that the browser plays sound on.
class Recorder extends AudioWorkletProcessor {
  process([input]) {
    if (input[0]) this.port.postMessage(input[0].slice());
    return true;
  }
}
registerProcessor("recorder", Recorder);
