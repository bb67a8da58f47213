/** The table under the towers, and the light. */
import {
  AmbientLight, CanvasTexture, CircleGeometry, Color, DirectionalLight, ExtrudeGeometry, Fog, Group, HemisphereLight, Mesh, MeshLambertMaterial,
  Path, Scene, Shape, SRGBColorSpace, type Material, type Texture,
} from "three";

import { MAT } from "../play/tower";
import { PLANKS } from "./planks";

export type Theme = "light" | "dark";

interface Mood {
  back: number;
  table: number;
  sky: number;
  ground: number;
  hemisphere: number;
  sun: number;
  bright: number;
  fill: number;
}

const MOODS: Record<Theme, Mood> = {
  light: { back: 0xf2e3c6, table: 0xd0b58c, sky: 0xfff6e6, ground: 0xb08a62, hemisphere: 1.15, sun: 0xfff0d8, bright: 2.9, fill: 0.5 },
  dark: { back: 0x101628, table: 0x3c4a70, sky: 0xb4c2e8, ground: 0x2a2a38, hemisphere: 0.85, sun: 0xffd4a0, bright: 2.9, fill: 0.5 },
};

/** Felt in the colours of the seats. */
const FELT = [0x9c3d12, 0x1f5f8b, 0x2f6b34] as const;
const REACH = 90;
const FELT_THICK = 0.07;

export class Stage {
  readonly scene = new Scene();
  readonly sun = new DirectionalLight();
  /** One mat for each seat; towers are their children. */
  readonly mats: Group[] = [];
  readonly #fog = new Fog(0);
  readonly #fill = new DirectionalLight(0xcfe0ff);
  readonly #sky = new HemisphereLight();
  readonly #table: Mesh<CircleGeometry, MeshLambertMaterial>;
  readonly #textures: Texture[] = [];
  readonly #owned: Material[] = [];

  constructor(seats: number, wood: Texture) {
    this.#table = new Mesh(new CircleGeometry(REACH, 64), new MeshLambertMaterial({ map: wood }));
    const { position, uv } = this.#table.geometry.attributes;
    for (let index = 0; index < uv!.count; index += 1) uv!.setXY(index, position!.getX(index) / PLANKS.wide, position!.getY(index) / PLANKS.deep);
    this.#table.rotation.x = -Math.PI / 2;
    this.#table.position.y = -FELT_THICK;
    this.#table.receiveShadow = true;
    this.scene.add(this.#table, this.#sky, this.sun, this.sun.target, this.#fill, new AmbientLight(0xffffff, 0.12));
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 3.5;
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.03;
    this.#fill.position.set(9, 7, -6);
    const felt = feltGeometry();
    for (let seat = 0; seat < seats; seat += 1) this.mats.push(this.#mat(felt, seat));
    this.scene.add(...this.mats);
  }

  /** Where the mats lie, and how high the light has to reach. */
  arrange(places: readonly (readonly [x: number, z: number])[], high: number): void {
    places.forEach(([x, z], seat) => this.mats[seat]?.position.set(x, 0, z));
    const wide = Math.max(...places.map(([x, z]) => Math.hypot(x, z))) + 5;
    const { camera } = this.sun.shadow;
    const half = Math.max(wide, high * 0.75 + 2);
    Object.assign(camera, { left: -half, right: half, top: half, bottom: -half, near: 1, far: 80 });
    camera.updateProjectionMatrix();
    this.sun.target.position.set(0, high * 0.35, 0);
    this.sun.position.set(-13, 26 + high * 0.35, 15);
  }

  /** The far end of the table fades out, wherever the camera stands. */
  fade(distance: number): void {
    this.#fog.near = distance + 8;
    this.#fog.far = distance + 60;
  }

  paint(theme: Theme): void {
    const mood = MOODS[theme];
    this.scene.background = new Color(mood.back);
    this.#fog.color.set(mood.back);
    this.scene.fog = this.#fog;
    this.#table.material.color.set(mood.table);
    this.#sky.color.set(mood.sky);
    this.#sky.groundColor.set(mood.ground);
    this.#sky.intensity = mood.hemisphere;
    this.sun.color.set(mood.sun);
    this.sun.intensity = mood.bright;
    this.#fill.intensity = mood.fill;
  }

  dispose(): void {
    this.#table.geometry.dispose();
    this.#table.material.dispose();
    this.sun.dispose();
    for (const each of [...this.#textures, ...this.#owned]) each.dispose();
    this.mats[0]?.children.forEach((child) => child instanceof Mesh && child.geometry.dispose());
  }

  #mat(felt: ExtrudeGeometry, seat: number): Group {
    const texture = feltTexture(FELT[seat % FELT.length]!);
    const material = new MeshLambertMaterial({ map: texture });
    this.#textures.push(texture);
    this.#owned.push(material);
    const mesh = new Mesh(felt, material);
    mesh.receiveShadow = true;
    mesh.castShadow = true;
    mesh.name = "mat";
    return new Group().add(mesh);
  }
}

const RIM = 0.34;
const SIDE = MAT + 2 * RIM;

function feltGeometry(): ExtrudeGeometry {
  const shape = new Shape().copy(rounded(SIDE / 2 - 0.02, 0.3) as Shape);
  const geometry = new ExtrudeGeometry(shape, { depth: FELT_THICK - 0.02, bevelEnabled: true, bevelSize: 0.02, bevelThickness: 0.02, bevelSegments: 2, curveSegments: 8 });
  // From a drawing that stands to cloth that lies, its top at the height 0.
  geometry.rotateX(-Math.PI / 2).translate(0, -FELT_THICK, 0);
  const { position, uv } = geometry.attributes;
  for (let index = 0; index < uv!.count; index += 1) uv!.setXY(index, position!.getX(index) / SIDE + 0.5, 0.5 - position!.getZ(index) / SIDE);
  return geometry;
}

function rounded(half: number, round: number): Path {
  const path = new Shape();
  path.moveTo(-half + round, -half).lineTo(half - round, -half);
  path.quadraticCurveTo(half, -half, half, -half + round).lineTo(half, half - round);
  path.quadraticCurveTo(half, half, half - round, half).lineTo(-half + round, half);
  path.quadraticCurveTo(-half, half, -half, half - round).lineTo(-half, -half + round);
  path.quadraticCurveTo(-half, -half, -half + round, -half);
  return path;
}

/** Felt with the nine cells stitched on it. */
function feltTexture(colour: number): CanvasTexture {
  const size = 512;
  const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
  const pen = canvas.getContext("2d")!;
  pen.fillStyle = `#${colour.toString(16).padStart(6, "0")}`;
  pen.fillRect(0, 0, size, size);
  for (let speck = 0; speck < 9000; speck += 1) {
    const wild = Math.sin(speck * 127.1) * 43758.5453;
    const other = Math.sin(speck * 311.7) * 24634.6345;
    pen.fillStyle = speck % 2 ? "rgb(255 255 255 / 5%)" : "rgb(0 0 0 / 7%)";
    pen.fillRect((wild - Math.floor(wild)) * size, (other - Math.floor(other)) * size, 2, 2);
  }
  const cell = size / SIDE;
  pen.strokeStyle = "rgb(255 240 214 / 62%)";
  pen.lineWidth = 3;
  pen.setLineDash([11, 7]);
  for (let line = 0; line <= MAT; line += 1) {
    const at = (RIM + line) * cell;
    pen.beginPath();
    pen.moveTo(at, RIM * cell);
    pen.lineTo(at, (RIM + MAT) * cell);
    pen.moveTo(RIM * cell, at);
    pen.lineTo((RIM + MAT) * cell, at);
    pen.stroke();
  }
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  texture.anisotropy = 2;
  return texture;
}
