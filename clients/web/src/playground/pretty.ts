/** A document as indented JSON in which everything that fits stays on one line. */

const WIDTH = 44;

export function pretty(value: unknown, depth = 0): string {
  const flat = spaced(value);
  if (typeof value !== "object" || value === null || flat.length + 2 * depth <= WIDTH) return flat;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const indent = "  ".repeat(depth + 1);
  const items = Array.isArray(value)
    ? value.map((item) => pretty(item, depth + 1))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${pretty(item, depth + 1)}`);
  return `${open}\n${items.map((item) => indent + item).join(",\n")}\n${"  ".repeat(depth)}${close}`;
}

function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${spaced(item)}`).join(", ")}}`;
}
