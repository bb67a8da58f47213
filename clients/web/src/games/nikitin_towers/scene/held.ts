/** The block that is to be placed: it hovers over the tower, and a pale copy lies where it would come to rest. */
import { BackSide, BufferAttribute, BufferGeometry, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, MeshStandardMaterial, Vector3, type Material } from "three";

import { cellsOf, writePlacement, type Placement } from "../play/notation";
import { MAT } from "../play/tower";
import { outline, solid } from "./solid";

export interface Held extends Placement {
  seat: number;
  /** Whether it may be dropped here; null: it waits in a player's hand. */
  offered: boolean | null;
}

/** Levels that the block hovers over its resting place at least, and over the top of the tower. */
const HOVER = 2.4;
const CLEAR = 0.8;
const COLOURS = { yes: 0x5fd777, no: 0xff4a38 } as const;
const EDGES = { yes: 0x18a045, no: 0xff3b2c } as const;
/** Width of the line round the block in the hand, in cubes. */
const CONTOUR = 0.075;

export class HeldBlock {
  readonly group = new Group();
  readonly body: Mesh<BufferGeometry, Material>;
  readonly #ghost: Mesh<BufferGeometry, MeshStandardMaterial>;
  readonly #edges: LineSegments<BufferGeometry, LineBasicMaterial>;
  readonly #guides: LineSegments<BufferGeometry, LineBasicMaterial>;
  /** A line round the block itself, so that it stands out from the tower. */
  readonly #contour: Mesh<BufferGeometry, MeshBasicMaterial>;
  readonly #inside = new Vector3();
  #shape = "";

  constructor(wood: Material) {
    this.body = new Mesh(new BufferGeometry(), wood);
    this.body.castShadow = true;
    this.#ghost = new Mesh(new BufferGeometry(), new MeshStandardMaterial({ transparent: true, opacity: 0.72, roughness: 0.8, depthWrite: false }));
    // Seen through the tower as well: a block may come to rest behind it.
    this.#edges = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ transparent: true, opacity: 0.85, depthTest: false }));
    this.#guides = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ transparent: true, opacity: 0.45 }));
    this.#contour = new Mesh(new BufferGeometry(), contour());
    this.body.add(this.#contour);
    this.#ghost.renderOrder = 2;
    this.#edges.renderOrder = 3;
    this.group.add(this.body, this.#ghost, this.#edges, this.#guides);
  }

  /** How high over its resting place the block hovers. */
  get above(): number {
    return this.body.position.y;
  }

  /** A point inside the block, in the world. */
  middle(): Vector3 {
    return this.body.localToWorld(this.#inside.clone());
  }

  /** `top` is the height of the tower: hovering over it, the block is never hidden. */
  show(held: Held | null, top: number): void {
    this.group.visible = held !== null;
    if (!held) return;
    const above = Math.max(HOVER, top + CLEAR - held.z);
    const shape = `${writePlacement({ ...held, x: 0, y: 0, z: 0 })} ${above}`;
    const cells = cellsOf({ ...held, x: 0, y: 0, z: 0 });
    if (shape !== this.#shape) {
      this.#shape = shape;
      const [x, y, z] = cells[0] ?? [0, 0, 0];
      this.#inside.set(x + 0.5 - MAT / 2, z + 0.5, MAT / 2 - y - 0.5);
      for (const each of [this.body, this.#ghost, this.#edges, this.#guides]) each.geometry.dispose();
      this.body.geometry = this.#ghost.geometry = this.#contour.geometry = solid([{ kind: held.kind, turn: 0, cells }], false);
      this.#edges.geometry = outline(cells);
      this.#guides.geometry = guides(cells, above);
    }
    const isGhost = held.offered !== null;
    for (const each of [this.#ghost, this.#edges, this.#guides, this.#contour]) each.visible = isGhost;
    const look = held.offered === false ? "no" : "yes";
    this.#ghost.material.color.set(COLOURS[look]);
    this.#edges.material.color.set(EDGES[look]);
    this.#guides.material.color.set(EDGES[look]);
    this.#contour.material.color.set(EDGES[look]);
    this.group.position.set(held.x, held.z, -held.y);
    this.body.position.y = above;
  }

  dispose(): void {
    this.group.removeFromParent();
    for (const each of [this.body, this.#ghost, this.#edges, this.#guides]) each.geometry.dispose();
    for (const each of [this.#ghost, this.#edges, this.#guides, this.#contour]) each.material.dispose();
  }
}

/** The back of the block, blown up a little: only its rim is seen. */
function contour(): MeshBasicMaterial {
  const material = new MeshBasicMaterial({ side: BackSide, fog: false, toneMapped: false });
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader.replace("#include <begin_vertex>", `#include <begin_vertex>\ntransformed += normal * ${CONTOUR};`);
  };
  return material;
}

/** From the lowest corners of each column straight down to where they will be. */
function guides(cells: readonly (readonly [number, number, number])[], above: number): BufferGeometry {
  const lowest = new Map<string, readonly [number, number, number]>();
  for (const cell of cells) {
    const column = `${cell[0]},${cell[1]}`;
    const known = lowest.get(column);
    if (!known || known[2] > cell[2]) lowest.set(column, cell);
  }
  const corners = new Map<string, [number, number, number]>();
  for (const [x, y, z] of lowest.values())
    for (const [dx, dy] of [[0, 0], [1, 0], [0, 1], [1, 1]] as const) corners.set(`${x + dx},${y + dy}`, [x + dx, y + dy, z]);
  const points = [...corners.values()].flatMap(([x, y, z]) => [x - MAT / 2, z, MAT / 2 - y, x - MAT / 2, z + above, MAT / 2 - y]);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  return geometry;
}
