/** Commands on their way: those that wait to be sent, and the callers that wait for their answers. */

import { asRead } from "./codec.ts";
import type { ServiceError } from "./errors.ts";
import { type ClientCommand, type Update, isRoomCommand, type Replay } from "./replay.ts";
import type { Answer, Command } from "./types.ts";

interface Asked {
  command: Command;
  dry: boolean;
  /** Tag of the offers that it was picked from. */
  tag: string;
  resolve: (answer: Answer) => void;
  reject: (error: ServiceError) => void;
}

export class Asking {
  readonly #replay: Replay;
  readonly #post: (message: ClientCommand) => void;
  readonly #queue: Asked[] = [];
  readonly #sent = new Map<number, Asked>();

  constructor(replay: Replay, post: (message: ClientCommand) => void) {
    this.#replay = replay;
    this.#post = post;
  }

  /** How many are not sent yet. */
  get waiting(): number {
    return this.#queue.length;
  }

  ask(given: Command, dry: boolean): Promise<Answer> {
    const answer = new Promise<Answer>((resolve, reject) => {
      const [, , , command] = asRead<ClientCommand>(["command", 1, "", given, dry]);
      this.#queue.push({ command, dry, tag: this.#replay.tag, resolve, reject });
      this.pump();
    });
    // A caller that ignores the answer need not handle its absence.
    answer.catch(() => undefined);
    return answer;
  }

  /** Send what waits, as far as the server takes it. Nothing is sent before the room is known. */
  pump(): void {
    while (this.#replay.cursor && this.#queue.length && !this.#replay.isFull) {
      const asked = this.#queue.shift()!;
      // It waited for others to be answered, and meanwhile the game went on.
      if (asked.tag !== this.#replay.tag && !isRoomCommand(asked.command)) {
        asked.resolve({ kind: "rejected", code: "stale", rule: "P-43", params: {}, hint: "the decision has passed" });
        continue;
      }
      const message = this.#made(asked);
      this.#sent.set(message[1], asked);
      this.#post(message);
    }
  }

  /** Something happened; it may be an answer. */
  happened(update: Update): void {
    if (update.kind === "answered") this.#answer(update.n, { kind: "done", seq: update.seq });
    else if (update.kind === "dry_answered") this.#answer(update.n, { kind: "accepted", effect: update.effect });
    else if (update.kind === "rejected") {
      const { n, ...rejection } = update;
      this.#answer(n, rejection);
    }
  }

  /** There will be no more answers. */
  end(error: ServiceError): void {
    for (const asked of [...this.#sent.values(), ...this.#queue.splice(0)]) asked.reject(error);
    this.#sent.clear();
  }

  /** `sit` and `ready` take part in the shuffle with a nonce of this client, unless the command has its own. */
  #made({ command, dry }: Asked): ClientCommand {
    const { command: name, seat, ready, nonce } = command;
    if (dry || nonce !== undefined) return this.#replay.command(command, dry);
    if (name === "sit") return this.#replay.sit(seat as number | undefined);
    return name === "ready" ? this.#replay.ready(ready !== false) : this.#replay.command(command);
  }

  #answer(n: number, answer: Answer): void {
    this.#sent.get(n)?.resolve(answer);
    this.#sent.delete(n);
  }
}
