import { ServiceError } from "./errors";
import type { GameRecord } from "./types";

export function parseRecord(_text: string): GameRecord {
  throw new ServiceError("bad_record", "records cannot be read yet");
}
