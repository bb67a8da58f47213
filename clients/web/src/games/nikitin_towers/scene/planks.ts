/** The wood of the table. It covers most of the picture, so it is computed once, into a texture that repeats. */
import {
  LinearMipmapLinearFilter, Mesh, MirroredRepeatWrapping, OrthographicCamera, PlaneGeometry, Scene, ShaderMaterial, WebGLRenderTarget, type Data3DTexture, type WebGLRenderer,
} from "three";

import { NOISE } from "./wood";

const PIXELS = 1024;
/** The part of the table that the texture covers: four planks. */
export const PLANKS = { wide: 26, deep: 18.4 } as const;

const VERTEX = /* glsl */ `
varying vec2 place;
void main() {
  place = uv * vec2(${PLANKS.wide.toFixed(1)}, ${PLANKS.deep.toFixed(1)});
  gl_Position = vec4(position.xy * 2.0, 0.0, 1.0);
}`;

const FRAGMENT = /* glsl */ `
varying vec2 place;
${NOISE}
void main() {
  float plank = floor(place.y / 4.6);
  float across = fract(place.y / 4.6);
  vec3 cut = vec3(place.x * 0.4 + plank * 7.3, across * 2.4 + 1.4, 1.1 + fract(plank * 0.37) * 1.7);
  float dark = clamp(woodGrain(cut), 0.0, 1.0);
  float gap = smoothstep(0.0, 0.012, across) * (1.0 - smoothstep(0.988, 1.0, across));
  // Paler than the grain of the blocks, which have to stand out.
  vec3 colour = mix(vec3(1.0), vec3(0.66, 0.57, 0.5), dark * 0.42) * (0.88 + 0.12 * fract(plank * 0.618)) * mix(0.55, 1.0, gap);
  gl_FragColor = vec4(colour, 1.0);
}`;

/** The picture of the planks, as what is left of the colour of the wood. */
export function planks(renderer: WebGLRenderer, noise: Data3DTexture): WebGLRenderTarget {
  const target = new WebGLRenderTarget(PIXELS, PIXELS, { generateMipmaps: true, minFilter: LinearMipmapLinearFilter, depthBuffer: false });
  target.texture.wrapS = target.texture.wrapT = MirroredRepeatWrapping;
  target.texture.anisotropy = 2;
  const material = new ShaderMaterial({ vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms: { woodNoiseTexture: { value: noise } }, depthTest: false });
  const quad = new Mesh(new PlaneGeometry(1, 1), material);
  quad.frustumCulled = false;
  renderer.setRenderTarget(target);
  renderer.render(new Scene().add(quad), new OrthographicCamera());
  renderer.setRenderTarget(null);
  quad.geometry.dispose();
  material.dispose();
  return target;
}
