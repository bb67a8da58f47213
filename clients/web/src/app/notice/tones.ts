/** The sounds of moments, made of a few tones and bursts of noise. */
import type { Moment } from "./moments";

interface Tone {
  /** Noise is heard around that pitch. */
  kind: "sine" | "triangle" | "noise";
  hertz: number;
  /** The pitch at the end; left out: the same. */
  to?: number;
  /** Seconds after the beginning. */
  at: number;
  seconds: number;
  loud: number;
}

const chord = (pitches: readonly number[], apart: number, seconds: number, loud: number): Tone[] =>
  pitches.map((hertz, index) => ({ kind: "triangle", hertz, at: index * apart, seconds, loud }));

const SOUNDS: Readonly<Record<Moment, readonly Tone[]>> = {
  card: [{ kind: "noise", hertz: 2600, to: 1500, at: 0, seconds: 0.07, loud: 0.16 }],
  gavel: [0, 0.16].flatMap((at): Tone[] => [
    { kind: "sine", hertz: 210, to: 85, at, seconds: 0.14, loud: 0.3 },
    { kind: "noise", hertz: 1100, at, seconds: 0.04, loud: 0.16 },
  ]),
  spire: chord([783.99, 987.77, 1318.51], 0.09, 0.5, 0.09),
  win: chord([523.25, 659.26, 783.99, 1046.5], 0.13, 0.7, 0.1),
  collapse: [
    { kind: "noise", hertz: 900, to: 130, at: 0, seconds: 0.9, loud: 0.3 },
    ...[0.02, 0.17, 0.3, 0.46].map((at, index): Tone => ({ kind: "sine", hertz: 240 - index * 35, to: 70, at, seconds: 0.16, loud: 0.22 })),
  ],
};

let context: AudioContext | null = null;
let noise: AudioBuffer | null = null;

export function play(moment: Moment): void {
  context ??= new AudioContext();
  const audio = context;
  void audio.resume().then(() => { for (const tone of SOUNDS[moment]) sound(audio, tone); }, () => undefined);
}

function sound(audio: AudioContext, { kind, hertz, to = hertz, at, seconds, loud }: Tone): void {
  const begin = audio.currentTime + at;
  const end = begin + seconds;
  const volume = new GainNode(audio, { gain: 0 });
  volume.gain.setValueAtTime(0.0001, begin);
  volume.gain.exponentialRampToValueAtTime(loud, begin + 0.008);
  volume.gain.exponentialRampToValueAtTime(0.0001, end);
  volume.connect(audio.destination);
  if (kind === "noise") {
    const band = new BiquadFilterNode(audio, { type: "bandpass", frequency: hertz, Q: 0.8 });
    glide(band.frequency, hertz, to, begin, end);
    const source = new AudioBufferSourceNode(audio, { buffer: (noise ??= noiseOf(audio)), loop: true });
    source.connect(band).connect(volume);
    source.start(begin);
    source.stop(end);
  } else {
    const source = new OscillatorNode(audio, { type: kind, frequency: hertz });
    glide(source.frequency, hertz, to, begin, end);
    source.connect(volume);
    source.start(begin);
    source.stop(end);
  }
}

function glide(pitch: AudioParam, from: number, to: number, begin: number, end: number): void {
  pitch.setValueAtTime(from, begin);
  pitch.exponentialRampToValueAtTime(to, end);
}

function noiseOf(audio: AudioContext): AudioBuffer {
  const buffer = audio.createBuffer(1, audio.sampleRate, audio.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let index = 0; index < samples.length; index += 1) samples[index] = Math.random() * 2 - 1;
  return buffer;
}
