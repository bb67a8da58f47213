/** Why a room ended before its game did, in words. */
import { readable } from "../words/identifiers";
import { t } from "../words/index.svelte";

export function closedText(reason: string): string {
  switch (reason) {
    case "agreed":
      return t("over.agreed");
    case "resigned":
      return t("over.resigned");
    case "abandoned":
      return t("over.abandoned");
    case "closed_by_operator":
      return t("over.closed");
    default:
      // A reason that the operator wrote: only made readable.
      return t("over.closed.reason", { reason: readable(reason) });
  }
}
