/** The facts that are heard besides the blocks themselves, which knock where they land. */
import type { Fact } from "towerhall-client";

import type { Moment } from "../../../app/notice/moments";

export function momentsOf(facts: readonly Fact[]): Moment[] {
  return facts.some(([name]) => name === "tower_collapsed") ? ["collapse"] : [];
}
