/** The camera: it looks at one tower or at all, each with an angle and a distance of its own, and eases from one to the next. */
import { Box3, MathUtils, PerspectiveCamera, Vector3 } from "three";

/** A seat, or all towers. */
export type Look = number | "all";

interface Angle {
  azimuth: number;
  polar: number;
  zoom: number;
}

const STEEP = [0.12, 1.5] as const;
const ZOOM = [0.45, 2.6] as const;
/** Of the way that is left, per second. */
const HASTE = 9;
const NEAR_ENOUGH = 0.0015;
/** CSS pixels at the right edge that belong to the buttons. */
const BUTTONS = 60;

export class Rig {
  readonly camera = new PerspectiveCamera(22, 1, 1, 260);
  readonly #angles = new Map<Look, Angle>();
  #look: Look = "all";
  readonly #target = new Vector3();
  readonly #goal = new Vector3();
  #distance = 20;
  #far = 20;
  #now: Angle = { azimuth: 0, polar: 1, zoom: 1 };
  #isPlaced = false;
  #free = 1;

  get look(): Look {
    return this.#look;
  }

  get azimuth(): number {
    return this.#angle.azimuth;
  }

  /** From the camera to what it looks at. */
  get distance(): number {
    return this.camera.position.distanceTo(this.#target);
  }

  /** The share of the width that no button covers. */
  get free(): number {
    return this.#free;
  }

  resize(width: number, height: number): void {
    this.#free = Math.max(width - BUTTONS, width / 2) / width;
    // Sets the aspect too. The towers stand in the middle of the free part.
    this.camera.setViewOffset(width, height, (width * (1 - this.#free)) / 2, 0, width, height);
  }

  /** Show those boxes whole. Keeps what was turned and zoomed for this look before. */
  aim(look: Look, boxes: readonly Box3[]): void {
    this.#look = look;
    const whole = new Box3();
    for (const box of boxes) whole.union(box);
    whole.getCenter(this.#goal);
    this.#far = this.#fit(boxes);
  }

  orbit(dx: number, dy: number): void {
    const angle = this.#angle;
    angle.azimuth -= dx;
    angle.polar = MathUtils.clamp(angle.polar - dy, ...STEEP);
  }

  zoom(factor: number): void {
    this.#angle.zoom = MathUtils.clamp(this.#angle.zoom * factor, ...ZOOM);
  }

  /** Back to how it was in the beginning. */
  reset(): void {
    this.#angles.delete(this.#look);
  }

  /** Moves on; whether there is more to move. */
  step(seconds: number, atOnce: boolean): boolean {
    const share = atOnce || !this.#isPlaced ? 1 : 1 - Math.exp(-HASTE * Math.min(seconds, 0.1));
    this.#isPlaced = true;
    const [goal, now] = [this.#angle, this.#now];
    let left = 0;
    for (const part of ["azimuth", "polar", "zoom"] as const) {
      now[part] += (goal[part] - now[part]) * share;
      left = Math.max(left, Math.abs(goal[part] - now[part]));
    }
    this.#target.lerp(this.#goal, share);
    this.#distance += (this.#far - this.#distance) * share;
    left = Math.max(left, this.#target.distanceTo(this.#goal), Math.abs(this.#far - this.#distance) / 10);
    this.#apply();
    return left > NEAR_ENOUGH;
  }

  get #angle(): Angle {
    let angle = this.#angles.get(this.#look);
    if (!angle) {
      angle = this.#look === "all" ? { azimuth: 0.1, polar: 1.12, zoom: 1 } : { azimuth: 0.36, polar: 1.04, zoom: 1 };
      this.#angles.set(this.#look, angle);
    }
    return angle;
  }

  #apply(): void {
    const { azimuth, polar, zoom } = this.#now;
    this.camera.position.setFromSphericalCoords(this.#distance / zoom, polar, azimuth).add(this.#target);
    // Never below the table.
    this.camera.position.y = Math.max(this.camera.position.y, 0.4);
    this.camera.lookAt(this.#target);
    this.camera.updateMatrixWorld();
  }

  /** The distance from which all boxes are seen whole, at the angle of the look and with a little room round it. */
  #fit(boxes: readonly Box3[]): number {
    const { azimuth, polar } = this.#angle;
    const back = new Vector3().setFromSphericalCoords(1, polar, azimuth);
    const right = new Vector3(Math.cos(azimuth), 0, -Math.sin(azimuth));
    const up = new Vector3().crossVectors(back, right);
    const tall = Math.tan(MathUtils.degToRad(this.camera.fov / 2)) * 0.94;
    const wide = tall * this.camera.aspect * this.#free;
    let far = 6;
    for (const { min, max } of boxes)
      for (let corner = 0; corner < 8; corner += 1) {
        const at = new Vector3(corner & 1 ? max.x : min.x, corner & 2 ? max.y : min.y, corner & 4 ? max.z : min.z).sub(this.#goal);
        far = Math.max(far, at.dot(back) + Math.abs(at.dot(right)) / wide, at.dot(back) + Math.abs(at.dot(up)) / tall);
      }
    return far;
  }
}
