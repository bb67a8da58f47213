/** English: the source of all other languages. Each part of the page has its own section. */
export default {
  // app
  "app.title": "Towerhall",
} as const satisfies Record<string, Text>;

/** A text, or one for each plural form of the parameter `n`. Parameters stand in braces: {name}. */
export type Text = string | { one?: string; few?: string; many?: string; other: string };
