/** Wood on wood: short knocks, lower for larger blocks. */
import { settings } from "../../../app/settings.svelte";

const LOUD = 0.22;
const APART_SECONDS = 0.028;

let context: AudioContext | null = null;
let noise: AudioBuffer | null = null;
let last = 0;

export function knock(force: number, size: number): void {
  // Browsers keep a page silent until the first touch or key, and warn about every attempt before that.
  if (!settings.sound || force < 0.05 || !navigator.userActivation.hasBeenActive) return;
  try {
    context ??= new AudioContext();
    if (context.currentTime - last < APART_SECONDS) return;
    last = context.currentTime;
    void context.resume().then(() => play(force, size), () => undefined);
  } catch {
    context = null;
  }
}

function play(force: number, size: number): void {
  if (!context) return;
  const begin = context.currentTime;
  const pitch = (920 - size * 70) * (0.94 + Math.random() * 0.12);
  const loud = LOUD * Math.min(1, force);
  for (const [share, over, seconds] of [[1, 1, 0.09], [0.5, 2.76, 0.05]] as const) {
    const tone = new OscillatorNode(context, { type: "sine", frequency: pitch * over });
    tone.connect(fading(context, begin, loud * share, seconds));
    tone.start(begin);
    tone.stop(begin + seconds);
  }
  const click = new AudioBufferSourceNode(context, { buffer: (noise ??= clicks(context)) });
  const band = new BiquadFilterNode(context, { type: "bandpass", frequency: pitch * 2, Q: 1.4 });
  click.connect(band).connect(fading(context, begin, loud * 0.9, 0.035));
  click.start(begin);
}

function fading(audio: AudioContext, begin: number, loud: number, seconds: number): GainNode {
  const volume = new GainNode(audio, { gain: loud });
  volume.gain.setValueAtTime(loud, begin);
  volume.gain.exponentialRampToValueAtTime(0.0001, begin + seconds);
  volume.connect(audio.destination);
  return volume;
}

function clicks(audio: AudioContext): AudioBuffer {
  const buffer = audio.createBuffer(1, Math.round(audio.sampleRate * 0.05), audio.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let index = 0; index < samples.length; index += 1) samples[index] = Math.random() * 2 - 1;
  return buffer;
}
