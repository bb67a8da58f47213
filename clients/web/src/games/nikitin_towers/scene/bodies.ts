/** Blocks on the move: they drop, bounce, tumble off, and vanish. For show only: where they end is known before. */
import { Group, Mesh, Vector3, type Material } from "three";

import { cellsOf, type Placement } from "../play/notation";
import { MAT, type Block } from "../play/tower";
import { solid } from "./solid";

/** Something that goes on for a while; `step` says whether it goes on. */
export interface Motion {
  step(seconds: number): boolean;
  dispose(): void;
}

export type Knock = (force: number, size: number) => void;

const PULL = 38;
const BOUNCE = 0.26;
const STILL = 0.9;

/** A mesh whose origin is the middle of the block. */
export function bodyOf(block: Placement & { turn: number }, wood: Material): Mesh {
  const cells = cellsOf(block);
  const mesh = new Mesh(solid([{ kind: block.kind, turn: block.turn, cells }], false), wood);
  const middle = [0, 1, 2].map((axis) => cells.reduce((sum, cell) => sum + cell[axis]! + 0.5, 0) / cells.length) as [number, number, number];
  const at = new Vector3(middle[0] - MAT / 2, middle[2], MAT / 2 - middle[1]);
  mesh.geometry.translate(-at.x, -at.y, -at.z);
  mesh.position.copy(at);
  mesh.castShadow = mesh.receiveShadow = true;
  return mesh;
}

/** Falls onto its place from so far above, and bounces a little. */
export class Drop implements Motion {
  readonly #mesh: Mesh;
  readonly #rest: number;
  readonly #size: number;
  readonly #knock: Knock;
  #above: number;
  #speed = 0;

  constructor(tower: Group, block: Block, wood: Material, above: number, knock: Knock) {
    this.#mesh = bodyOf(block, wood);
    this.#rest = this.#mesh.position.y;
    this.#above = above;
    this.#size = cellsOf(block).length;
    this.#knock = knock;
    this.#mesh.position.y += above;
    tower.add(this.#mesh);
  }

  step(seconds: number): boolean {
    this.#speed -= PULL * seconds;
    this.#above += this.#speed * seconds;
    if (this.#above <= 0) {
      this.#knock(Math.min(1, -this.#speed / 14), this.#size);
      this.#above = 0;
      this.#speed *= -BOUNCE;
      if (this.#speed < STILL) return false;
    }
    this.#mesh.position.y = this.#rest + this.#above;
    return true;
  }

  dispose(): void {
    this.#mesh.removeFromParent();
    this.#mesh.geometry.dispose();
  }
}

const SLOW_PULL = 22;
const LIE_SECONDS = 1.25;
const FADE_SECONDS = 0.35;

/** Falls off the tower, turning over, onto the table, and goes. */
export class Tumble implements Motion {
  readonly #mesh: Mesh;
  readonly #speed: Vector3;
  readonly #axis: Vector3;
  readonly #size: number;
  readonly #low: number;
  readonly #knock: Knock;
  #spin: number;
  #wait: number;
  #lain = 0;

  constructor(tower: Group, block: Block, wood: Material, wait: number, knock: Knock) {
    this.#mesh = bodyOf(block, wood);
    this.#knock = knock;
    this.#wait = wait;
    this.#size = cellsOf(block).length;
    this.#low = 0.45;
    const chance = (salt: number) => Math.abs((Math.sin(block.turn * 91.7 + salt * 37.3) * 4358.5453) % 1);
    const out = new Vector3(this.#mesh.position.x, 0, this.#mesh.position.z);
    if (out.length() < 0.3) out.set(chance(1) - 0.5, 0, chance(2) - 0.5);
    out.normalize().applyAxisAngle(new Vector3(0, 1, 0), (chance(3) - 0.5) * 1.2);
    this.#speed = out.clone().multiplyScalar(1.6 + chance(4) * 2.2).setY(0.4 + chance(5));
    this.#axis = new Vector3(out.z, (chance(6) - 0.5) * 0.8, -out.x).normalize();
    this.#spin = 2.4 + chance(7) * 3;
    tower.add(this.#mesh);
  }

  step(seconds: number): boolean {
    if (this.#wait > 0) {
      this.#wait -= seconds;
      return true;
    }
    const { position } = this.#mesh;
    this.#speed.y -= SLOW_PULL * seconds;
    position.addScaledVector(this.#speed, seconds);
    if (position.y < this.#low && this.#speed.y < 0) this.#hit();
    this.#mesh.rotateOnWorldAxis(this.#axis, this.#spin * seconds);
    if (position.y <= this.#low + 0.02) this.#lain += seconds;
    const fading = this.#lain - LIE_SECONDS + FADE_SECONDS;
    if (fading > 0) this.#mesh.scale.setScalar(Math.max(0.001, 1 - fading / FADE_SECONDS));
    return this.#lain < LIE_SECONDS;
  }

  dispose(): void {
    this.#mesh.removeFromParent();
    this.#mesh.geometry.dispose();
  }

  #hit(): void {
    if (this.#speed.y < -1.5) this.#knock(Math.min(1, -this.#speed.y / 16), this.#size);
    this.#mesh.position.y = this.#low;
    this.#speed.set(this.#speed.x * 0.62, this.#speed.y < -2 ? this.#speed.y * -0.3 : 0, this.#speed.z * 0.62);
    this.#spin *= 0.45;
  }
}
