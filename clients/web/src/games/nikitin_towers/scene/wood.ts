/** Wood, computed in the shader from the place in the block: rings at the ends, grain along the sides, fine fibres. */
import { Data3DTexture, LinearFilter, MeshStandardMaterial, RedFormat, RepeatWrapping, type WebGLProgramParametersWithUniforms } from "three";

export const NOISE = /* glsl */ `
precision highp sampler3D;
uniform sampler3D woodNoiseTexture;
float woodNoise(vec3 p) {
  vec3 i = floor(p), f = p - i;
  return texture(woodNoiseTexture, (i + f * f * (3.0 - 2.0 * f) + 0.5) / 32.0).r;
}
/** 0 is early wood, 1 the dark line of a year. */
float woodGrain(vec3 p) {
  float bend = woodNoise(p * vec3(0.28, 0.55, 0.55));
  float wave = woodNoise(p * vec3(0.8, 1.6, 1.6) + 11.0);
  float years = length(p.yz + 0.9 * bend) * 5.2 + wave * 0.7;
  float ring = fract(years);
  float blur = clamp(fwidth(years) * 1.4, 0.0, 1.0);
  float line = smoothstep(0.15, 0.86, ring) * (1.0 - smoothstep(0.9, 1.0, ring));
  float fibre = woodNoise(p * vec3(2.2, 46.0, 46.0));
  float pores = smoothstep(0.72, 0.95, woodNoise(p * vec3(5.0, 34.0, 34.0) + 5.0));
  float near = 1.0 - clamp(fwidth(p.y + p.z) * 26.0, 0.0, 1.0);
  return mix(line, 0.4, blur) * 0.72 + (fibre - 0.5) * 0.34 * near + pores * 0.22 * near + (wave - 0.5) * 0.25;
}
`;

const SIDE = 32;

/** Chance values on a grid that repeats: the graphics chip blends between them. Both woods share it. */
export function noiseTexture(): Data3DTexture {
  const values = new Uint8Array(SIDE ** 3);
  let seed = 1;
  for (let index = 0; index < values.length; index += 1) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    values[index] = seed >>> 24;
  }
  const texture = new Data3DTexture(values, SIDE, SIDE, SIDE);
  texture.format = RedFormat;
  texture.minFilter = texture.magFilter = LinearFilter;
  texture.wrapS = texture.wrapT = texture.wrapR = RepeatWrapping;
  texture.unpackAlignment = 1;
  texture.needsUpdate = true;
  return texture;
}

/** Wood for blocks: takes the attributes that `solid` makes. */
export function blockWood(noise: Data3DTexture): MeshStandardMaterial {
  const material = new MeshStandardMaterial({ roughness: 0.58, metalness: 0, vertexColors: true });
  material.onBeforeCompile = (shader) => {
    shader.uniforms["woodNoiseTexture"] = { value: noise };
    addVaryings(shader, "attribute vec3 grain;\nattribute float shade;", "vGrain = grain;\nvShade = shade;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\nvarying vec3 vGrain;\nvarying float vShade;\n${NOISE}`)
      .replace(
        "#include <color_fragment>",
        /* glsl */ `#include <color_fragment>
        float grainDark = clamp(woodGrain(vGrain), 0.0, 1.0);
        diffuseColor.rgb = mix(diffuseColor.rgb, diffuseColor.rgb * vec3(0.62, 0.5, 0.4), grainDark * 0.85);
        diffuseColor.rgb *= mix(0.55, 1.0, vShade);`,
      )
      .replace("#include <roughnessmap_fragment>", "#include <roughnessmap_fragment>\nroughnessFactor += grainDark * 0.22;")
      .replace("#include <aomap_fragment>", "#include <aomap_fragment>\nreflectedLight.indirectDiffuse *= vShade;");
  };
  material.customProgramCacheKey = () => "block-wood";
  return material;
}

function addVaryings(shader: WebGLProgramParametersWithUniforms, attributes: string, set: string): void {
  shader.vertexShader = shader.vertexShader
    .replace("#include <common>", `#include <common>\n${attributes}\nvarying vec3 vGrain;\nvarying float vShade;`)
    .replace("#include <begin_vertex>", `#include <begin_vertex>\n${set}`);
}
