/** The moments of a game that are heard. Each can be silenced by itself; what makes the sounds is loaded with the first one. */
import { settings } from "../settings.svelte";

export const MOMENTS = ["card", "gavel", "spire", "win", "collapse"] as const;
export type Moment = (typeof MOMENTS)[number];

export function sound(moment: Moment): void {
  // Browsers keep a page silent until the first touch or key, and warn about every attempt before that.
  if (!settings.hears(moment) || !navigator.userActivation.hasBeenActive) return;
  import("./tones").then(({ play }) => play(moment)).catch(() => undefined);
}
