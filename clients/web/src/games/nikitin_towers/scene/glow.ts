/** A pool of warm light round the mats of those who have won. */
import { AdditiveBlending, CanvasTexture, Mesh, MeshBasicMaterial, PlaneGeometry, SRGBColorSpace, type Group } from "three";

const SIDE = 13;
const PIXELS = 128;

export class Glow {
  readonly #geometry = new PlaneGeometry(SIDE, SIDE).rotateX(-Math.PI / 2);
  readonly #material = new MeshBasicMaterial({ transparent: true, blending: AdditiveBlending, depthWrite: false, fog: false, map: pool() });
  #pools: Mesh[] = [];

  show(mats: readonly Group[]): void {
    for (const mat of mats) {
      const mesh = new Mesh(this.#geometry, this.#material);
      mesh.position.y = -0.05;
      mat.add(mesh);
      this.#pools.push(mesh);
    }
  }

  hide(): void {
    for (const mesh of this.#pools) mesh.removeFromParent();
    this.#pools = [];
  }

  dispose(): void {
    this.hide();
    this.#geometry.dispose();
    this.#material.map?.dispose();
    this.#material.dispose();
  }
}

function pool(): CanvasTexture {
  const canvas = Object.assign(document.createElement("canvas"), { width: PIXELS, height: PIXELS });
  const pen = canvas.getContext("2d")!;
  const light = pen.createRadialGradient(PIXELS / 2, PIXELS / 2, 8, PIXELS / 2, PIXELS / 2, PIXELS / 2);
  light.addColorStop(0, "rgb(255 214 130 / 70%)");
  light.addColorStop(0.5, "rgb(255 190 90 / 28%)");
  light.addColorStop(1, "rgb(255 180 80 / 0%)");
  pen.fillStyle = light;
  pen.fillRect(0, 0, PIXELS, PIXELS);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  return texture;
}
