/** Blocks, orientations and the notation are those of every other client. */
import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { countOf, cubesOf, KINDS, orientationOf, orientationsOf, sizeOf, turned, type Cubes } from "../src/games/nikitin_towers/play/blocks";
import { readPlacement, shapeOf, writePlacement } from "../src/games/nikitin_towers/play/notation";
import { restOf, rims, tops } from "../src/games/nikitin_towers/play/tower";
import { step, turnedOrientation } from "../src/games/nikitin_towers/play/turning";

interface Vectors {
  kinds: Record<string, { count: number; orientations: string[] }>;
  rests: { placement: string; z: number; height: number; ring: number }[];
}
const vectors = JSON.parse(readFileSync(new URL("../../../protocol/vectors/nikitin_towers.json", import.meta.url), "utf8")) as Vectors;
const spelt = (cubes: Cubes) => cubes.map((cube) => cube.join("")).join(" ");

describe("blocks", () => {
  test("kinds, counts and numbered orientations are those of the vectors", () => {
    expect(KINDS).toEqual(Object.keys(vectors.kinds));
    for (const [kind, { count, orientations }] of Object.entries(vectors.kinds)) {
      expect(countOf(kind), kind).toBe(count);
      expect(orientationsOf(kind).map(spelt), kind).toEqual(orientations);
    }
  });

  test("there are 45 blocks of 138 cubes", () => {
    expect(KINDS.reduce((sum, kind) => sum + countOf(kind), 0)).toBe(45);
    expect(KINDS.reduce((sum, kind) => sum + countOf(kind) * sizeOf(kind), 0)).toBe(138);
  });

  test("a chiral block has no orientation that is its mirror image", () => {
    for (const kind of ["E6", "F6"]) {
      const mirrored = cubesOf(kind, 1)!.map(([x, y, z]) => [-x, y, z] as const);
      expect(orientationOf(kind, mirrored), kind).toBe(0);
    }
  });

  test("four quarter turns lead back", () => {
    for (const axis of [0, 1, 2] as const) expect(orientationOf("F6", turned(cubesOf("F6", 3)!, axis, 4))).toBe(3);
    expect(orientationOf("F6", turned(turned(cubesOf("F6", 3)!, 1, 1), 1, -1))).toBe(3);
  });
});

describe("the notation", () => {
  test.each(["D4.3@1,-1,5", "A1.1@0,0,0", "F6.12@-10,12,120"])("%s is read and written", (text) => {
    expect(writePlacement(readPlacement(text)!)).toBe(text);
  });

  test("a shape over a column rests nowhere yet", () => {
    const placement = readPlacement("D4.3@1,-1")!;
    expect([shapeOf(placement), placement.z]).toEqual(["D4.3", 0]);
  });

  test.each(["", "D4", "D4.3", "D7.1@0,0", "D4.13@0,0", "D4.0@0,0", "D4.03@0,0", "D4.3@-0,0", "D4.3@01,0", "D4.3@1,2,-1", " D4.3@1,2", "D4.3@1,2\n", "G1.1@0,0"])("%j is refused", (text) => {
    expect(readPlacement(text)).toBeNull();
  });
});

describe("a tower", () => {
  test("blocks come to rest where the vectors say, one after the other", () => {
    const placed = vectors.rests.map(({ placement, z }) => ({ ...readPlacement(placement)!, z }));
    placed.forEach((held, index) => {
      const below = placed.slice(0, index);
      expect(restOf(tops(below), held), vectors.rests[index]!.placement).toBe(held.z);
      expect(Math.max(...tops(placed.slice(0, index + 1)).values())).toBe(vectors.rests[index]!.height);
    });
  });

  test("a ring is the eight cells round the middle; the middle and what sticks out do not count", () => {
    const cells = [[0, 0], [1, 0], [2, 0], [0, 1], [2, 1], [0, 2], [1, 2], [1, 1], [3, 0]].map(([x, y]) => [x!, y!, 0] as const);
    expect(rims(cells, 1)).toEqual([7]);
    expect(rims([...cells, [2, 2, 0]], 1)).toEqual([8]);
  });
});

describe("turning as the viewer sees it", () => {
  const upright = orientationOf("B1", [[0, 0, 0], [0, 0, 1]]);
  const alongX = orientationOf("B1", [[0, 0, 0], [1, 0, 0]]);
  const alongY = orientationOf("B1", [[0, 0, 0], [0, 1, 0]]);

  test("tipping lays a domino away from the viewer, rolling lays it to the right", () => {
    expect(turnedOrientation("B1", upright, "tip", 1, 0)).toBe(alongY);
    expect(turnedOrientation("B1", upright, "roll", 1, 0)).toBe(alongX);
    expect(turnedOrientation("B1", upright, "tip", 1, Math.PI / 2)).toBe(alongX);
    expect(turnedOrientation("B1", alongX, "turn", 1, 0)).toBe(alongY);
  });

  test("the top of a block goes where it is tipped", () => {
    // An L that stands: its foot points to the right, two cubes rise above the corner.
    const standing = orientationOf("D3", [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 0]]);
    expect(spelt(cubesOf("D3", turnedOrientation("D3", standing, "tip", 1, 0))!)).toBe("000 010 020 100");
    expect(spelt(cubesOf("D3", turnedOrientation("D3", standing, "tip", -1, 0))!)).toBe("000 010 020 120");
    expect(spelt(cubesOf("D3", turnedOrientation("D3", standing, "roll", -1, 0))!)).toBe("000 100 200 201");
  });

  test("steps follow the camera", () => {
    expect(step(0, 1, 0)).toEqual([1, 0]);
    expect(step(Math.PI / 2, 1, 0).map((part) => part + 0)).toEqual([0, 1]);
    expect(step(-0.3, 0, 1)).toEqual([0, 1]);
  });
});
