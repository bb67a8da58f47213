/** The sentence that invites a visitor to a table. */
import { t } from "../words/index.svelte";

export function invitation(game: string, host?: string | null): string {
  return host ? t("enter.by", { host, game }) : t("enter.game", { game });
}
