/** Why a room ended without a result, in words. */
import { t } from "../words/index.svelte";

export function closedText(reason: string): string {
  switch (reason) {
    case "agreed":
      return t("over.agreed");
    case "abandoned":
      return t("over.abandoned");
    case "closed_by_operator":
      return t("over.closed");
    default:
      // A word of whoever runs the service: all that can be done for it is to make it readable.
      return t("over.closed.reason", { reason: reason.replaceAll("_", " ") });
  }
}
