/** As whom, how and from where the playground connects next. */
import type { CodecName, Entry } from "./line.svelte";

export class Choice {
  seat = $state(0);
  codec = $state<CodecName>("msgpack");
  /** The entry at whose place the client goes on; null: it asks for the whole view. */
  from = $state.raw<Entry | null>(null);
}
