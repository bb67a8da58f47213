/** What seats have built, drawn small. It is apart from the other parts of games, because the hall is loaded without it. */
import type { Component } from "svelte";

import type { SmallProps } from ".";

const smalls = import.meta.glob<{ default: Component<SmallProps> }>("./*/Small.svelte");

/** What draws the towers of a seat small, or null if this page cannot draw the game. */
export async function loadSmall(name: string): Promise<Component<SmallProps> | null> {
  const load = smalls[`./${name}/Small.svelte`];
  return load ? (await load()).default : null;
}
