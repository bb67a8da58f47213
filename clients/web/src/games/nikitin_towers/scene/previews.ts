/** Single blocks, drawn with the renderer of the board and copied into small canvases. */
import { DirectionalLight, HemisphereLight, Mesh, PerspectiveCamera, Scene, type BufferGeometry, type Material, type WebGLRenderer } from "three";

import { orientationsOf } from "../play/blocks";
import { solid } from "./solid";

export class Previews {
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new PerspectiveCamera(24, 1, 1, 40);
  readonly #blocks = new Map<string, BufferGeometry>();
  readonly #mesh: Mesh<BufferGeometry, Material>;

  constructor(renderer: WebGLRenderer, wood: Material) {
    this.#renderer = renderer;
    this.#mesh = new Mesh(undefined, wood);
    const sun = new DirectionalLight(0xfff0d8, 2.3);
    sun.position.set(-3, 6, 4);
    this.#scene.add(this.#mesh, sun, new HemisphereLight(0xfff3df, 0x8a6242, 1.1));
  }

  /** `room` is the size of the board's canvas: a corner of it is drawn on. */
  draw(kind: string, angle: number, into: HTMLCanvasElement, room: readonly [number, number]): void {
    const pen = into.getContext("2d");
    const renderer = this.#renderer;
    // Twice as large as it will be: the copy smoothes it.
    const ratio = renderer.getPixelRatio();
    const fine = ratio < 2 ? 2 : 1;
    const [width, height] = [Math.min(into.clientWidth, room[0] / fine), Math.min(into.clientHeight, room[1] / fine)];
    if (!pen || width < 1 || height < 1) return;
    const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (into.width !== wide || into.height !== tall) Object.assign(into, { width: wide, height: tall });
    this.#mesh.geometry = this.#geometry(kind);
    this.#mesh.rotation.y = angle;
    const far = 1.6 + 2.7 * (this.#mesh.geometry.boundingSphere?.radius ?? 1);
    this.#camera.aspect = width / height;
    this.#camera.position.set(0, far * 0.55, far * 0.95);
    this.#camera.lookAt(0, 0, 0);
    this.#camera.updateProjectionMatrix();
    renderer.setViewport(0, 0, width * fine, height * fine);
    renderer.setScissor(0, 0, width * fine, height * fine);
    renderer.setScissorTest(true);
    renderer.setClearColor(0x000000, 0);
    renderer.render(this.#scene, this.#camera);
    const canvas = renderer.domElement;
    pen.clearRect(0, 0, wide, tall);
    pen.imageSmoothingQuality = "high";
    pen.drawImage(canvas, 0, canvas.height - tall * fine, wide * fine, tall * fine, 0, 0, wide, tall);
    renderer.setScissorTest(false);
    renderer.setViewport(0, 0, ...room);
  }

  dispose(): void {
    for (const geometry of this.#blocks.values()) geometry.dispose();
  }

  #geometry(kind: string): BufferGeometry {
    let found = this.#blocks.get(kind);
    if (!found) {
      // The last orientation lies along x, which suits a wide picture.
      const cells = orientationsOf(kind).at(-1) ?? [];
      found = solid([{ kind, turn: 0, cells }], false);
      found.center();
      found.computeBoundingSphere();
      this.#blocks.set(kind, found);
    }
    return found;
  }
}
