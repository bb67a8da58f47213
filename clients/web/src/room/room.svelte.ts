/** A room as the page shows it: what the table of the client tells, as state that components can follow. */
import { connect, type Answer, type Command, type Document, type Ending, type Frame, type LineState, type Offer, type Table, type TableEvent } from "towerhall-client";

import { explainCode, explainRefusal } from "../app/explain";
import { takePlan, type Plan } from "../app/plans";
import { session } from "../app/session.svelte";
import { toast } from "../ui/toasts.svelte";
import { t } from "../words/index.svelte";
import { Talk } from "./talk.svelte";
import { Log } from "./log.svelte";
import { namesOf, places, roomOf, turnOf } from "./view";

const NO_OFFERS: readonly Offer[] = [];
/** Errors about something that this player did just now. */
const TOLD: ReadonlySet<string> = new Set(["bad_chat", "bad_emote", "muted", "chat_off", "too_many", "too_many_unanswered"]);

export class Room {
  readonly code: string;
  readonly key: string;
  readonly talk: Talk;
  readonly log: Log;
  readonly #table: Table;
  #plan: Plan | null;
  #wasAway = false;
  /** The number of the last command that waits for a search. */
  #queued = 0;

  view = $state.raw<Document>({});
  seq = $state(0);
  seat = $state<number | null>(null);
  offers = $state.raw<readonly Offer[]>(NO_OFFERS);
  online = $state.raw<readonly number[]>([]);
  watchers = $state(0);
  paused = $state(false);
  /** The code alone leads no other person in. */
  isPrivate = $state(false);
  state = $state<LineState>("connecting");
  ending = $state.raw<Ending | null>(null);
  unanswered = $state(0);
  retryAt = $state<number | null>(null);
  /** Why the connection is away, if the server said so. */
  trouble = $state.raw<Ending | null>(null);
  /** The newest frame, for animation; null after a break, when nothing should move. */
  frame = $state.raw<Frame | null>(null);
  #knowsBlocked = false;
  /** A plan is being carried out: the table is being set. */
  isSetting = $state(false);

  readonly room = $derived(roomOf(this.view));
  readonly places = $derived(this.room ? places(this.room) : []);
  readonly names = $derived(namesOf(this.room));
  readonly isMyTurn = $derived(this.room?.status === "playing" && this.offers.length > 0);
  /** Offers are certain; what a game calls a turn may be that of a seat for which another one decides. */
  readonly turn = $derived(this.isMyTurn ? this.seat : turnOf(this.view));
  /** Seats that can act: connected people, and bots, which are never away. */
  readonly present = $derived(this.places.filter(({ seat, holder }) => holder?.bot || this.online.includes(seat)).map(({ seat }) => seat));
  readonly isHost = $derived.by(() => {
    if (!this.room) return false;
    return this.room.host === undefined ? session.made(this.code) : this.room.host === this.seat;
  });

  constructor(code: string, key: string, token: string) {
    this.code = code;
    this.key = key;
    this.#table = connect({ origin: session.service.origin, code, token, ...(key ? { key } : {}) });
    this.talk = new Talk(this.#table, code);
    this.log = new Log(this.#table);
    this.#plan = takePlan(code);
    this.isSetting = this.#plan?.start ?? false;
    this.#table.on((event) => this.#hear(event));
    this.#read();
  }

  /** Tell the service, and say so if it refuses. */
  async send(command: Command): Promise<Answer> {
    const answer = await this.#table.send(command);
    if (answer.kind === "rejected") toast(explainRefusal(answer, this.room?.game ?? ""), "bad");
    return answer;
  }

  /** As `send`, for buttons: whether it was done does not matter to them. */
  do(command: Command): void {
    this.send(command).catch(() => undefined);
  }

  /** For the board, which words refusals itself. */
  readonly act = (command: Command): Promise<Answer> => this.#whileOpen(this.#table.send(command));
  readonly try = (command: Command): Promise<Answer> => this.#whileOpen(this.#table.dry(command));

  history(first: number): Promise<Frame[]> {
    return this.#table.history(first);
  }

  on(listener: (event: TableEvent) => void): () => void {
    return this.#table.on(listener);
  }

  awayMs(seat: number): number | null {
    return this.#table.awayMs(seat);
  }

  timeLeft(): number | null {
    return this.#table.timeLeft();
  }

  /** Another token of the same person. */
  useToken(token: string): void {
    this.#table.useToken(token);
  }

  reconnectNow(): void {
    this.#table.reconnectNow();
  }

  close(): void {
    this.#table.close();
  }

  #hear(event: TableEvent): void {
    switch (event.kind) {
      case "changed":
        return this.#read();
      case "frame":
        this.frame = event.frame;
        return this.log.add(event.frame, event.before, event.after);
      case "reset":
        this.frame = null;
        if (event.lost > 0) {
          this.log.forget(this.#table.seq);
          toast(t("line.reset", { n: event.lost }), "bad");
        }
        return;
      case "searching":
        // One word for each command is enough, though its place changes.
        if (event.ahead > 0 && event.n !== this.#queued) toast(t("line.searching", { n: event.ahead }));
        this.#queued = event.n;
        return;
      case "error":
        // Errors that end the connection are shown with its state.
        if (TOLD.has(event.code)) toast(explainCode(event.code, event.params, event.hint), "bad");
        return;
      default:
        return this.talk.hear(event);
    }
  }

  #read(): void {
    const table = this.#table;
    const wasUp = this.state === "up";
    this.view = table.view;
    this.seq = table.seq;
    this.seat = table.seat;
    this.offers = table.offers;
    this.online = table.online;
    this.watchers = table.watchers;
    this.paused = table.paused;
    this.isPrivate = table.isPrivate || this.key !== "";
    this.state = table.state;
    this.ending = table.ending;
    this.unanswered = table.unanswered;
    this.retryAt = table.retryAt;
    this.trouble = table.trouble;
    if (this.state === "away") this.#wasAway = true;
    if (this.state !== "up" || wasUp) return;
    if (this.#wasAway) toast(t("line.returned"));
    this.#wasAway = false;
    void this.log.fill();
    if (!this.#knowsBlocked) void this.#knowBlocked();
    const plan = this.#plan;
    // Once is enough: after a break, commands that were under way are sent again by themselves.
    this.#plan = null;
    if (plan) void this.#carryOut(plan);
  }

  /** Leave out the chat of those whom this person has blocked (P-207). Without an answer all are heard, as before. */
  async #knowBlocked(): Promise<void> {
    this.#knowsBlocked = true;
    try {
      this.talk.block(await session.ask((token) => session.service.blockedIds(token, this.code, this.key)));
    } catch {
      this.#knowsBlocked = false;
    }
  }

  /** The answer; none ever if the table ends before, which the page shows in place of the board. */
  #whileOpen(answer: Promise<Answer>): Promise<Answer> {
    return answer.catch((error: unknown) => {
      if (this.#table.ending) return new Promise(() => undefined);
      throw error;
    });
  }

  async #carryOut(plan: Plan): Promise<void> {
    const todo: Command[] = [];
    if (plan.sit) todo.push({ command: "sit" });
    for (const level of plan.bots) todo.push({ command: "add_bot", level });
    if (plan.ready) todo.push({ command: "ready", ready: true });
    if (plan.start) todo.push({ command: "start" });
    try {
      for (const command of todo) if ((await this.send(command)).kind === "rejected") break;
    } catch {
      // The table has ended, which the page shows.
    } finally {
      this.isSetting = false;
    }
  }
}
