/** Curled shavings of wood that come down round the winner's tower. */
import { BufferAttribute, BufferGeometry, DoubleSide, Euler, InstancedMesh, Matrix4, MeshStandardMaterial, Quaternion, Vector3, Color, type Group } from "three";

import type { Motion } from "./bodies";

const COUNT = 150;
const SECONDS = 9;

export class Shavings implements Motion {
  readonly #mesh = new InstancedMesh(curl(), new MeshStandardMaterial({ side: DoubleSide, roughness: 0.7 }), COUNT);
  readonly #high: number;
  #time = 0;

  /** Without motion they lie there already. */
  constructor(tower: Group, high: number, calm: boolean) {
    this.#high = high;
    this.#mesh.castShadow = true;
    this.#mesh.frustumCulled = false;
    for (let index = 0; index < COUNT; index += 1) this.#mesh.setColorAt(index, new Color().setHSL(0.085 + chance(index, 9) * 0.03, 0.75, 0.42 + chance(index, 8) * 0.18));
    tower.add(this.#mesh);
    this.step(calm ? SECONDS : 0);
  }

  step(seconds: number): boolean {
    this.#time = Math.min(SECONDS, this.#time + seconds);
    const matrix = new Matrix4();
    for (let index = 0; index < COUNT; index += 1) this.#mesh.setMatrixAt(index, this.#place(index, matrix));
    this.#mesh.instanceMatrix.needsUpdate = true;
    return this.#time < SECONDS;
  }

  dispose(): void {
    this.#mesh.removeFromParent();
    this.#mesh.geometry.dispose();
    (this.#mesh.material as MeshStandardMaterial).dispose();
    this.#mesh.dispose();
  }

  #place(index: number, matrix: Matrix4): Matrix4 {
    const fallen = Math.max(0, this.#time - chance(index, 1) * 3.2);
    const start = this.#high + 2 + chance(index, 2) * 5;
    const y = Math.max(0.05 + chance(index, 7) * 0.06, start - fallen * (2.2 + chance(index, 3) * 1.6));
    const flying = Math.min(fallen, (start - 0.05) / 2.2);
    const angle = chance(index, 4) * 6.283 + flying * 0.35;
    const far = 1.9 + chance(index, 5) * 3.4 + Math.sin(flying * 2.6 + index) * 0.35;
    const turn = new Euler(flying * (2 + chance(index, 6) * 3) + index, index * 1.7, flying * 2 + index * 0.7);
    const size = fallen > 0 ? 0.7 + chance(index, 3) * 0.8 : 0;
    return matrix.compose(new Vector3(Math.cos(angle) * far, y, Math.sin(angle) * far), new Quaternion().setFromEuler(turn), new Vector3(size, size, size));
  }
}

function chance(index: number, salt: number): number {
  const wild = Math.sin(index * 12.9898 + salt * 78.233) * 43758.5453;
  return wild - Math.floor(wild);
}

/** A thin strip, rolled up. */
function curl(): BufferGeometry {
  const [steps, wide] = [12, 0.09];
  const position: number[] = [];
  const index: number[] = [];
  for (let step = 0; step <= steps; step += 1) {
    const angle = (step / steps) * 4.6;
    const round = 0.1 + step * 0.004;
    for (const side of [-wide, wide]) position.push(Math.cos(angle) * round, Math.sin(angle) * round, side + step * 0.012);
    if (step < steps) index.push(2 * step, 2 * step + 1, 2 * step + 2, 2 * step + 1, 2 * step + 3, 2 * step + 2);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(position), 3));
  geometry.setIndex(index);
  geometry.computeVertexNormals();
  return geometry;
}
