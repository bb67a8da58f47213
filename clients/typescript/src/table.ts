import type { Answer, Command, Document, Ending, Frame, LineState, Offer, Subprotocol, TableEvent } from "./types";

export interface Storage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface ConnectOptions {
  origin: string;
  code: string;
  token: string;
  key?: string;
  subprotocol?: Subprotocol;
  WebSocket?: typeof WebSocket;
  now?: () => number;
  storage?: Storage | null;
}

export class Table {
  readonly code: string = "";
  readonly view: Document = {};
  readonly seq: number = 0;
  readonly seat: number | null = null;
  readonly offers: readonly Offer[] = [];
  readonly you: string = "";
  readonly name: string = "";
  readonly online: readonly number[] = [];
  readonly watchers: number = 0;
  readonly paused: boolean = false;
  readonly level: number = 0;
  readonly state: LineState = "connecting";
  readonly ending: Ending | null = null;
  readonly unanswered: number = 0;
  readonly retryAt: number | null = null;

  send(_command: Command): Promise<Answer> {
    return Promise.reject(new Error("not yet"));
  }
  dry(_command: Command): Promise<Answer> {
    return Promise.reject(new Error("not yet"));
  }
  sit(_seat?: number): Promise<Answer> {
    return Promise.reject(new Error("not yet"));
  }
  ready(_ready = true): Promise<Answer> {
    return Promise.reject(new Error("not yet"));
  }
  chat(_text: string): void {}
  emote(_emote: string): void {}
  history(_first: number, _last?: number): Promise<Frame[]> {
    return Promise.reject(new Error("not yet"));
  }
  timeLeft(): number | null {
    return null;
  }
  on(_listener: (event: TableEvent) => void): () => void {
    return () => {};
  }
  reconnectNow(): void {}
  close(): void {}
}

export function connect(_options: ConnectOptions): Table {
  return new Table();
}
