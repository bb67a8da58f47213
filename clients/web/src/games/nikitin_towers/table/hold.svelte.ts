/** The block in the builder's hand: which way it lies, and over which column it is. */
import { isMap } from "../../../app/kept";
import { cubesOf, orientationsOf } from "../play/blocks";
import type { Placement } from "../play/notation";
import { firstPlace, isOffered, type Offered } from "../play/reach";
import { extentOf, restOf, tops, type Block } from "../play/tower";
import { cellsOf } from "../play/notation";
import { turnedOrientation, type Way } from "../play/turning";

/** Columns round the tower over which a block may hover. */
const ROOM = 3;

export interface Hand {
  kind: string;
  orientation: number;
  /** The middle of the block, which stays where it is when the block is turned. */
  middle: [x: number, y: number];
}

export class Hold {
  #hand = $state.raw<Hand | null>(null);
  readonly #blocks: () => readonly Block[];
  readonly #offered: () => Offered;
  readonly #tops = $derived.by(() => tops(this.#blocks()));

  constructor(from: { blocks: () => readonly Block[]; offered: () => Offered }) {
    this.#blocks = from.blocks;
    this.#offered = from.offered;
  }

  /** Where the block is, and where it would rest. */
  readonly placement: Placement | null = $derived.by(() => {
    const hand = this.#hand;
    if (!hand) return null;
    const [mx, my] = middleOf(hand.kind, hand.orientation);
    const held = { kind: hand.kind, orientation: hand.orientation, x: Math.round(hand.middle[0] - mx), y: Math.round(hand.middle[1] - my) };
    return { ...held, z: restOf(this.#tops, held) };
  });
  readonly isOffered: boolean = $derived.by(() => this.placement !== null && isOffered(this.#offered(), this.placement));

  take(kind: string): void {
    const { orientation, x, y } = firstPlace(this.#offered(), kind, this.#tops);
    const [mx, my] = middleOf(kind, orientation);
    this.#hand = { kind, orientation, middle: [x + mx, y + my] };
  }

  /** As it was held before, if that was this block. */
  restore(kept: unknown): void {
    const hand = this.#hand;
    if (!hand || !isHand(kept) || kept.kind !== hand.kind) return;
    this.#hand = { kind: kept.kind, orientation: kept.orientation, middle: kept.middle };
    this.move(0, 0);
  }

  get hand(): Hand | null {
    return this.#hand;
  }

  drop(): void {
    this.#hand = null;
  }

  turn(way: Way, times: number, azimuth: number): void {
    const hand = this.#hand;
    if (!hand) return;
    this.#hand = { ...hand, orientation: turnedOrientation(hand.kind, hand.orientation, way, times, azimuth) };
  }

  move(dx: number, dy: number): void {
    const at = this.placement;
    if (at) this.moveTo(at.x + dx, at.y + dy);
  }

  /** Over that column, as far as that is near the tower. */
  moveTo(x: number, y: number): void {
    const hand = this.#hand;
    if (!hand) return;
    const { least, most } = extentOf(this.#blocks().flatMap(cellsOf));
    const cubes = cubesOf(hand.kind, hand.orientation) ?? [];
    const clamped = ([x, y] as const).map((value, axis) => {
      const wide = Math.max(...cubes.map((cube) => cube[axis as 0 | 1]));
      return Math.min(Math.max(value, least[axis]! - ROOM), most[axis]! + ROOM - wide);
    });
    const [mx, my] = middleOf(hand.kind, hand.orientation);
    this.#hand = { ...hand, middle: [clamped[0]! + mx, clamped[1]! + my] };
  }

  /** So that the middle of the block is over that column. */
  centre(x: number, y: number): void {
    const hand = this.#hand;
    if (!hand) return;
    const [mx, my] = middleOf(hand.kind, hand.orientation);
    this.moveTo(Math.round(x - mx), Math.round(y - my));
  }
}

function isHand(value: unknown): value is Hand {
  if (!isMap(value) || typeof value["kind"] !== "string" || !Array.isArray(value["middle"])) return false;
  const [orientation, middle] = [Number(value["orientation"]), value["middle"] as unknown[]];
  return Number.isInteger(orientation) && orientation >= 1 && orientation <= orientationsOf(value["kind"]).length && middle.length === 2 && middle.every(Number.isFinite);
}

/** The middle of its columns, from its corner. */
function middleOf(kind: string, orientation: number): [number, number] {
  const cubes = cubesOf(kind, orientation) ?? [];
  const mean = (axis: 0 | 1) => cubes.reduce((sum, cube) => sum + cube[axis], 0) / Math.max(1, cubes.length);
  return [mean(0), mean(1)];
}
