/**
 * The towers in three dimensions. This is the door to the folder: nothing else of the page imports three.js.
 *
 * A frame is drawn only when something has changed. Motion is for show: when the next view comes, it is finished at once.
 */
import { ACESFilmicToneMapping, Box3, PCFShadowMap, Raycaster, Vector2, Vector3, Plane, WebGLRenderer, Mesh, BufferGeometry, type WebGLRenderTarget } from "three";

import { cellsOf } from "../play/notation";
import type { News } from "../play/news";
import { extentOf, MAT, type Block } from "../play/tower";
import type { Tower } from "../play/game";
import { Drop, Tumble, type Knock, type Motion } from "./bodies";
import { Rig, type Look } from "./camera";
import { Glow } from "./glow";
import { HeldBlock, type Held } from "./held";
import { placesOf } from "./layout";
import { levelsOf, Marks } from "./marks";
import { planks } from "./planks";
import { Previews } from "./previews";
import { Shavings } from "./shavings";
import { solid } from "./solid";
import { Stage, type Theme } from "./stage";
import { blockWood, noiseTexture } from "./wood";

export type { Held, Look, Theme };

export interface Shown {
  towers: readonly Tower[];
  /** Seats from left to right. */
  order: readonly number[];
  held: Held | null;
  winners: readonly number[];
  look: Look;
}

export interface Label {
  seat: number;
  /** In CSS pixels from the corner of the canvas. */
  x: number;
  y: number;
  /** From x to the buttons, for names that the canvas shows. */
  room: number;
}

export interface Hooks {
  /** After each frame: where the names belong, how many draw calls it took, and where the held block is (`x,y` or nothing). */
  drawn(labels: Label[], calls: number, hand: string): void;
  still(isStill: boolean): void;
  knock: Knock;
  lost(isLost: boolean): void;
  calm(): boolean;
}

const RATIO = 2;
const STEP_SECONDS = 1 / 60;
const LATE_SECONDS = 0.4;
const ROUND_SECONDS = 0.3;
const TURN_SECONDS = 16;
const SLOW_SECONDS = 0.036;
const LATE_FRAMES = 3;
const LEAST_SHARP = 0.5;
const HELD_ROOM = 4.2;
const NAME_ROOM = 1.3;
const RULE_ROOM = 0.7;
/** CSS pixels: half a name and its distance from the edge, and how far below the canvas a name is still of use. */
const PLATE_HIGH = 26;
const OUT_OF_SIGHT = 120;

interface Stand {
  mesh: Mesh<BufferGeometry>;
  marks: Marks;
  built: string;
}

export class World {
  readonly #hooks: Hooks;
  readonly #renderer: WebGLRenderer;
  readonly #stage: Stage;
  readonly #planks: WebGLRenderTarget;
  readonly #rig = new Rig();
  readonly #noise = noiseTexture();
  readonly #wood = blockWood(this.#noise);
  readonly #held = new HeldBlock(this.#wood);
  readonly #glow = new Glow();
  readonly #previews: Previews;
  readonly #stands: Stand[];
  readonly #ended = new AbortController();
  #shown: Shown | null = null;
  #motions: Motion[] = [];
  /** What has to be shown once the motions are over. */
  #after: (() => void) | null = null;
  #celebrated = "";
  #size: [width: number, height: number] = [1, 1];
  #scheduled = 0;
  #isSpoilt = false;
  /** The share of the full resolution, and how many frames in a row were late. */
  #sharpness = 1;
  #late = 0;
  #last = 0;

  /** Throws where there is no WebGL. */
  constructor(canvas: HTMLCanvasElement, seats: number, hooks: Hooks) {
    this.#hooks = hooks;
    this.#renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true, powerPreference: "high-performance" });
    this.#renderer.toneMapping = ACESFilmicToneMapping;
    this.#renderer.toneMappingExposure = 1.02;
    this.#renderer.shadowMap.enabled = true;
    this.#renderer.shadowMap.type = PCFShadowMap;
    this.#renderer.shadowMap.autoUpdate = false;
    this.#previews = new Previews(this.#renderer, this.#wood);
    this.#planks = planks(this.#renderer, this.#noise);
    this.#stage = new Stage(seats, this.#planks.texture);
    this.#stands = this.#stage.mats.map((mat) => {
      const mesh = new Mesh(new BufferGeometry(), this.#wood);
      mesh.castShadow = mesh.receiveShadow = true;
      const marks = new Marks();
      mat.add(mesh, marks.group);
      return { mesh, marks, built: "" };
    });
    const heard = { signal: this.#ended.signal };
    canvas.addEventListener("webglcontextlost", (event) => (event.preventDefault(), hooks.lost(true)), heard);
    canvas.addEventListener("webglcontextrestored", () => (hooks.lost(false), this.#wake(true)), heard);
  }

  get azimuth(): number {
    return this.#rig.azimuth;
  }

  paint(theme: Theme): void {
    this.#stage.paint(theme);
    this.#wake(true);
  }

  resize(width: number, height: number): void {
    if (width < 1 || height < 1) return;
    this.#size = [width, height];
    this.#sharpen(1);
    this.#rig.resize(width, height);
    if (this.#shown) this.#arrange(this.#shown);
    // Changing the size has cleared the canvas: redraw before it is shown.
    this.#draw();
    if (this.#shown) this.#wake(false);
  }

  /** Shows a view; with news, as it came about. */
  show(shown: Shown, news: News | null): void {
    this.finish();
    const before = this.#shown;
    this.#shown = shown;
    this.#arrange(shown);
    for (const { seat, blocks } of shown.towers) if (seat !== news?.seat) this.#build(seat, blocks);
    const moves = news !== null && !this.#hooks.calm();
    if (moves) this.#act(news, shown);
    else if (news) this.#build(news.seat, shown.towers[news.seat]?.blocks ?? []);
    this.#mark(shown);
    this.#hold(shown.held);
    this.#celebrate(shown, before !== null);
    this.#wake(true);
  }

  /** The held block has moved: nothing else has. */
  hold(held: Held | null): void {
    this.#hold(held);
    if (this.#shown) this.#mark((this.#shown = { ...this.#shown, held }));
    this.#wake(true);
  }

  look(look: Look): void {
    if (!this.#shown || this.#shown.look === look) return;
    this.#shown = { ...this.#shown, look };
    this.#arrange(this.#shown);
    this.#mark(this.#shown);
    this.#wake(false);
  }

  /** Back to the angle and the distance of the beginning. */
  resetLook(): void {
    this.#rig.reset();
    if (this.#shown) this.#arrange(this.#shown);
    this.#wake(false);
  }

  orbit(dx: number, dy: number): void {
    this.#rig.orbit(dx, dy);
    this.#wake(false);
  }

  zoom(factor: number): void {
    this.#rig.zoom(factor);
    this.#wake(false);
  }

  /** Whether the held block is at that point of the canvas. */
  isHeldAt(x: number, y: number): boolean {
    if (!this.#shown?.held) return false;
    const parts = this.#held.group.children.filter((child) => child instanceof Mesh && child.visible);
    return this.#ray(x, y).intersectObjects(parts, false).length > 0;
  }

  /** The column of a seat's tower that is seen at that point. */
  columnAt(x: number, y: number, seat: number): [x: number, y: number] | null {
    const mat = this.#stage.mats[seat];
    const stand = this.#stands[seat];
    if (!mat || !stand) return null;
    const [hit] = this.#ray(x, y).intersectObjects([stand.mesh, ...mat.children.filter(({ name }) => name === "mat")], false);
    if (!hit?.face) return null;
    const at = hit.point.clone().addScaledVector(hit.face.normal, -0.05).sub(mat.position);
    return [Math.floor(at.x + MAT / 2), Math.floor(MAT / 2 - at.z)];
  }

  /** Where that point lies on the level of the held block, in columns; for dragging. */
  planeAt(x: number, y: number, level: number): [x: number, y: number] | null {
    const at = this.#ray(x, y).ray.intersectPlane(new Plane(new Vector3(0, 1, 0), -level), new Vector3());
    return at && [at.x, -at.z];
  }

  /** The height at which the held block was taken hold of. */
  levelAt(x: number, y: number): number {
    const parts = this.#held.group.children.filter((child) => child instanceof Mesh && child.visible);
    return this.#ray(x, y).intersectObjects(parts, false)[0]?.point.y ?? 0;
  }

  /** Draws a block into a canvas of its own, turned that far. */
  preview(kind: string, angle: number, into: HTMLCanvasElement): void {
    this.#previews.draw(kind, angle, into, this.#size);
    // The board was drawn over; it is redrawn before it is shown, once for all previews.
    if (this.#isSpoilt) return;
    this.#isSpoilt = true;
    queueMicrotask(() => {
      this.#isSpoilt = false;
      if (!this.#ended.signal.aborted) this.#draw();
    });
  }

  /** Whatever moves is where it belongs at once. */
  finish(): void {
    for (const motion of this.#motions) motion.dispose();
    this.#motions = [];
    this.#after?.();
    this.#after = null;
  }

  dispose(): void {
    this.#ended.abort();
    cancelAnimationFrame(this.#scheduled);
    this.#after = null;
    this.finish();
    for (const { mesh, marks } of this.#stands) {
      mesh.geometry.dispose();
      marks.dispose();
    }
    this.#held.dispose();
    this.#glow.dispose();
    this.#previews.dispose();
    this.#stage.dispose();
    this.#wood.dispose();
    this.#noise.dispose();
    this.#planks.dispose();
    this.#renderer.dispose();
  }

  #arrange(shown: Shown): void {
    const boxes = shown.towers.map(({ blocks }) => boxOf(blocks));
    const aspect = this.#size[0] / this.#size[1];
    const places = placesOf(shown.order, boxes.map(reachOf), aspect);
    this.#stage.arrange(places, Math.max(6, ...boxes.map((box) => box.max.y)));
    const wanted = shown.look === "all" ? boxes.map((_, seat) => seat) : [shown.look];
    const seen = wanted.map((seat) => {
      const [x, z] = places[seat] ?? [0, 0];
      const box = boxes[seat]?.clone() ?? new Box3();
      // Room for a block that hovers over it.
      if (shown.winners.length === 0 && (seat === shown.held?.seat || shown.look !== "all")) box.max.y += HELD_ROOM;
      // Room for the name in front, and for the rule at the left.
      box.max.y = Math.max(box.max.y, levelsOf(shown.towers[seat]?.height ?? 0));
      box.min.y -= NAME_ROOM;
      box.min.x -= RULE_ROOM;
      return box.translate(new Vector3(x, 0, z));
    });
    this.#rig.aim(shown.look, seen);
  }

  #build(seat: number, blocks: readonly Block[]): void {
    const stand = this.#stands[seat];
    if (!stand) return;
    const wanted = blocks.map((block) => Object.values(block).join()).join(" ");
    if (wanted === stand.built) return;
    stand.built = wanted;
    stand.mesh.geometry.dispose();
    stand.mesh.geometry = solid(blocks.map((block) => ({ ...block, cells: cellsOf(block) })), true);
    stand.mesh.visible = blocks.length > 0;
  }

  /** The block drops; then what fell tumbles. */
  #act({ seat, placed, fallen }: News, shown: Shown): void {
    const mat = this.#stage.mats[seat];
    const stays = shown.towers[seat]?.blocks ?? [];
    if (!mat) return;
    const gone = fallen.flat();
    const before = [...stays, ...gone].filter(({ turn }) => turn !== placed.turn).sort((one, other) => one.turn - other.turn);
    this.#build(seat, before);
    const drop = new Drop(mat, placed, this.#wood, this.#held.above || 2.4, this.#hooks.knock);
    this.#motions = [drop];
    this.#after = () => {
      this.#build(seat, stays);
      if (gone.length === 0) return;
      this.#motions = fallen.flatMap((round, index) => round.map((block) => new Tumble(mat, block, this.#wood, index * ROUND_SECONDS, this.#hooks.knock)));
      this.#after = null;
    };
  }

  #mark(shown: Shown): void {
    for (const { seat, blocks, height, ring } of shown.towers)
      this.#stands[seat]?.marks.show({ height, ring, isRead: shown.look === "all" || shown.look === seat, reach: reachOf(boxOf(shown.held?.seat === seat ? [...blocks, { ...shown.held, turn: 0 }] : blocks)) });
  }

  #hold(held: Held | null): void {
    this.#held.show(held, this.#shown?.towers[held?.seat ?? -1]?.height ?? 0);
    if (held) this.#stage.mats[held.seat]?.add(this.#held.group);
  }

  #celebrate(shown: Shown, wasSeen: boolean): void {
    const seats = shown.winners.join();
    if (seats === this.#celebrated) return;
    this.#celebrated = seats;
    this.#glow.hide();
    const [first] = shown.winners;
    const mat = this.#stage.mats[first ?? -1];
    if (first === undefined || !mat) return;
    const calm = this.#hooks.calm() || !wasSeen;
    this.#glow.show(shown.winners.flatMap((seat) => this.#stage.mats[seat] ?? []));
    const shavings = new Shavings(mat, boxOf(shown.towers[first]?.blocks ?? []).max.y, calm);
    this.#motions.push(shavings);
    if (!calm) this.#motions.push(turning(this.#rig));
  }

  #ray(x: number, y: number): Raycaster {
    const ray = new Raycaster();
    const [width, height] = this.#size;
    ray.setFromCamera(new Vector2((x / width) * 2 - 1, 1 - (y / height) * 2), this.#rig.camera);
    return ray;
  }

  #wake(shadows: boolean): void {
    if (shadows) this.#renderer.shadowMap.needsUpdate = true;
    if (this.#scheduled) return;
    this.#hooks.still(false);
    this.#last = 0;
    this.#scheduled = requestAnimationFrame((now) => this.#frame(now));
  }

  #frame(now: number): void {
    const seconds = this.#last ? Math.min((now - this.#last) / 1000, LATE_SECONDS) : STEP_SECONDS;
    if (this.#last) this.#pace(seconds);
    this.#last = now;
    const isMoving = this.#move(seconds);
    const isTurning = this.#rig.step(seconds, this.#hooks.calm());
    if (!isMoving && !isTurning && this.#sharpness < 1) this.#sharpen(1);
    this.#draw();
    this.#scheduled = isMoving || isTurning ? requestAnimationFrame((next) => this.#frame(next)) : 0;
    if (!this.#scheduled) this.#hooks.still(true);
  }

  /** A machine that cannot keep up gets fewer pixels as long as something moves. */
  #pace(seconds: number): void {
    this.#late = seconds > SLOW_SECONDS ? this.#late + 1 : 0;
    if (this.#late < LATE_FRAMES || this.#sharpness <= LEAST_SHARP) return;
    this.#late = 0;
    this.#sharpen(Math.max(LEAST_SHARP, this.#sharpness * 0.75));
  }

  #sharpen(share: number): void {
    this.#sharpness = share;
    this.#renderer.setPixelRatio(Math.min(devicePixelRatio, RATIO) * share);
    this.#renderer.setSize(...this.#size, false);
  }

  #move(seconds: number): boolean {
    if (this.#motions.length === 0 && !this.#after) return false;
    for (let left = seconds; left > 0; left -= STEP_SECONDS) {
      const part = Math.min(left, STEP_SECONDS);
      const [going, over]: [Motion[], Motion[]] = [[], []];
      for (const motion of this.#motions) (motion.step(part) ? going : over).push(motion);
      this.#motions = going;
      for (const motion of over) if (!(motion instanceof Shavings)) motion.dispose();
      if (going.length === 0 && this.#after) {
        const after = this.#after;
        this.#after = null;
        after();
      }
    }
    this.#renderer.shadowMap.needsUpdate = true;
    return this.#motions.length > 0;
  }

  #draw(): void {
    const { camera } = this.#rig;
    this.#stage.fade(this.#rig.distance);
    this.#stands.forEach(({ marks }, seat) => marks.face(camera, this.#stage.mats[seat]!.position));
    this.#renderer.render(this.#stage.scene, camera);
    this.#hooks.drawn(this.#labels(), this.#renderer.info.render.calls, this.#handAt());
  }

  #handAt(): string {
    if (!this.#shown?.held) return "";
    const at = this.#onCanvas(this.#held.middle());
    return at.map(Math.round).join();
  }

  #onCanvas(point: Vector3): [x: number, y: number] {
    const at = point.project(this.#rig.camera);
    return [((at.x + 1) / 2) * this.#size[0], ((1 - at.y) / 2) * this.#size[1]];
  }

  /** Names stand on the table in front of the mats. */
  #labels(): Label[] {
    const { camera } = this.#rig;
    return this.#stage.mats.map(({ position }, seat) => {
      const towards = new Vector3(camera.position.x - position.x, 0, camera.position.z - position.z).normalize();
      const [x, y] = this.#onCanvas(position.clone().addScaledVector(towards, 2.7));
      const [width, height] = this.#size;
      // The name of a tower in front of which there is no room stays at the edge.
      const low = height - PLATE_HIGH;
      return { seat, x, y: y < height + OUT_OF_SIGHT ? Math.min(y, low) : y, room: x <= width ? width * this.#rig.free - x : x };
    });
  }
}

function boxOf(blocks: readonly Block[]): Box3 {
  const cells = blocks.flatMap(cellsOf);
  const { least, most } = extentOf(cells);
  const high = Math.max(2.5, ...cells.map(([, , z]) => z + 1));
  return new Box3(new Vector3(least[0] - MAT / 2 - 0.4, 0, MAT / 2 - most[1] - 1.4), new Vector3(most[0] + 1.4 - MAT / 2, high, MAT / 2 - least[1] + 0.4));
}

function reachOf(box: Box3): number {
  return Math.max(-box.min.x, box.max.x, -box.min.z, box.max.z);
}

/** The camera goes slowly to and fro before the winner's tower. */
function turning(rig: Rig): Motion {
  let time = 0;
  const swing = (at: number) => 0.55 * Math.sin((at / TURN_SECONDS) * 2 * Math.PI);
  return {
    step(seconds) {
      rig.orbit(swing(time) - swing(time + seconds), 0);
      time += seconds;
      return time < TURN_SECONDS;
    },
    dispose() {},
  };
}
