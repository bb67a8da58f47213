/** The marks at a tower: a rule with its levels, and a golden frame at its ring level. */
import {
  BoxGeometry, CanvasTexture, Group, Mesh, MeshBasicMaterial, MeshStandardMaterial, PlaneGeometry, SRGBColorSpace, Vector3, type PerspectiveCamera,
} from "three";
import { mergeFrames } from "./frames";

import { MAT } from "../play/tower";

const PIXELS = 56;
const WIDE = 0.72;
const LEAST = 5;

/** How many levels the rule beside a tower has. */
export function levelsOf(height: number): number {
  return Math.max(LEAST, height + 2);
}

export interface Reading {
  height: number;
  ring: number;
  /** How far the tower reaches from the middle of its mat. */
  reach: number;
  /** Whether the rule is shown. */
  isRead: boolean;
}

export class Marks {
  readonly group = new Group();
  readonly #rule = new Mesh(new PlaneGeometry(1, 1), new MeshBasicMaterial({ transparent: true, fog: false, toneMapped: false }));
  readonly #frame = new Mesh(ringFrame(), new MeshStandardMaterial({ color: 0xf0b93a, metalness: 0.35, roughness: 0.32, emissive: 0x6b4300, emissiveIntensity: 0.5 }));
  #reading = "";
  #reach = 2;

  constructor() {
    this.#frame.castShadow = true;
    this.group.add(this.#rule, this.#frame);
  }

  show({ height, ring, reach, isRead }: Reading): void {
    this.#rule.visible = isRead;
    this.#reach = reach;
    this.#frame.visible = ring > 0;
    this.#frame.position.y = ring;
    const reading = `${height} ${ring}`;
    if (reading === this.#reading) return;
    this.#reading = reading;
    const levels = levelsOf(height);
    this.#rule.material.map?.dispose();
    this.#rule.material.map = drawn(levels, height, ring);
    this.#rule.material.needsUpdate = true;
    this.#rule.scale.set(WIDE, levels, 1);
    this.#rule.position.y = levels / 2;
  }

  /** The rule stands at the left of the tower, wherever one looks from. */
  face(camera: PerspectiveCamera, centre: Vector3): void {
    const azimuth = Math.atan2(camera.position.x - centre.x, camera.position.z - centre.z);
    this.#rule.rotation.y = azimuth;
    const far = this.#reach + 0.2;
    this.#rule.position.set(-Math.cos(azimuth) * far, this.#rule.position.y, Math.sin(azimuth) * far);
  }

  dispose(): void {
    this.#rule.material.map?.dispose();
    this.#rule.material.dispose();
    this.#rule.geometry.dispose();
    this.#frame.material.dispose();
    this.#frame.geometry.dispose();
  }
}

function ringFrame() {
  const [long, thin] = [MAT + 0.24, 0.07];
  const beam = (x: number, z: number, wide: number, deep: number) => new BoxGeometry(wide, thin, deep).translate(x, 0, z);
  const half = (MAT + 0.17) / 2;
  return mergeFrames([beam(0, half, long, thin), beam(0, -half, long, thin), beam(half, 0, thin, long), beam(-half, 0, thin, long)]);
}

/** A lath of pale wood with printed numbers; the height of the tower is set off, the ring level is a golden line. */
function drawn(levels: number, height: number, ring: number): CanvasTexture {
  const [width, tall] = [Math.round(WIDE * PIXELS), levels * PIXELS];
  const canvas = Object.assign(document.createElement("canvas"), { width, height: tall });
  const pen = canvas.getContext("2d")!;
  const box = (colour: string, x: number, y: number, wide: number, high: number, round = 0) => {
    pen.fillStyle = colour;
    pen.beginPath();
    pen.roundRect(x, y, wide, high, round);
    pen.fill();
  };
  box("#f3e2bd", 1, 1, width - 2, tall - 2, 5);
  box("#e2c993", width - 5, 1, 4, tall - 2, 2);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (let level = 1; level <= levels; level += 1) {
    const at = tall - level * PIXELS;
    const isTop = level === height;
    if (isTop) box("#8f3c10", 3, at + 7, width - 14, PIXELS - 12, 7);
    box("#6b4a26", width - (level % 5 ? 13 : 20), at, level % 5 ? 12 : 19, 3);
    for (const part of [0.25, 0.5, 0.75]) box("#b08d5c", width - 8, at + part * PIXELS, 7, 2);
    pen.fillStyle = isTop ? "#fff8ec" : level > height ? "#a3865a" : "#4a2f12";
    pen.font = `700 ${level > 9 ? 24 : 28}px Georgia, serif`;
    pen.fillText(String(level), (width - 10) / 2, at + PIXELS / 2 + 3);
    if (level === ring) box("#e0a31c", 0, at - 3, width, 8, 3);
  }
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  texture.anisotropy = 2;
  return texture;
}
