/** Cards as the page knows them: an id such as `sand:7` has a kind and a value; `sand:7+` is its second copy. */
export const KINDS = ["candy", "spooky", "tree", "scrap", "sand"] as const;
export type Kind = (typeof KINDS)[number];

export interface Card {
  id: string;
  kind: Kind;
  value: number;
}

export function cardOf(id: string): Card {
  const [kind, value] = id.split(":");
  return { id, kind: kind as Kind, value: parseInt(value ?? "", 10) };
}

/** What is special about a card under the option `eight`, as its print would say it; null for most. */
export function markOf(value: number, eight: string): "takes_all" | "goes_anywhere" | "goes_everywhere" | null {
  if (value === 9) return "goes_anywhere";
  if (value === 8) return eight === "cap" ? "goes_everywhere" : "takes_all";
  return null;
}
