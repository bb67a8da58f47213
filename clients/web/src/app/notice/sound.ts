/** A short chime, made of two soft tones. */
import { settings } from "../settings.svelte";

const TONES = [{ hertz: 659.26, at: 0 }, { hertz: 987.77, at: 0.13 }] as const;
const LOUD = 0.12;
const SECONDS = 0.55;

let context: AudioContext | null = null;

export function chime(): void {
  // Browsers keep a page silent until the first touch or key, and warn about every attempt before that.
  if (!settings.sound || !navigator.userActivation.hasBeenActive) return;
  try {
    context ??= new AudioContext();
    void context.resume().then(play, () => undefined);
  } catch {
    context = null;
  }
}

function play(): void {
  if (!context) return;
  for (const { hertz, at } of TONES) {
    const begin = context.currentTime + at;
    const tone = new OscillatorNode(context, { type: "triangle", frequency: hertz });
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.linearRampToValueAtTime(LOUD, begin + 0.015);
    volume.gain.exponentialRampToValueAtTime(0.0001, begin + SECONDS);
    tone.connect(volume).connect(context.destination);
    tone.start(begin);
    tone.stop(begin + SECONDS);
  }
}
