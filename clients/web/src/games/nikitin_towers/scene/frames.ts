/** Joins small geometries into one, so that they are drawn at once. */
import { BufferAttribute, BufferGeometry } from "three";

export function mergeFrames(parts: readonly BufferGeometry[]): BufferGeometry {
  const merged = new BufferGeometry();
  const flat = parts.map((part) => (part.index ? part.toNonIndexed() : part));
  for (const name of ["position", "normal"])
    merged.setAttribute(name, new BufferAttribute(new Float32Array(flat.flatMap((part) => [...(part.getAttribute(name).array as Float32Array)])), 3));
  for (const part of [...parts, ...flat]) part.dispose();
  return merged;
}
