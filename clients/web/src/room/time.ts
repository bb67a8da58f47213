/** Time left as a clock shows it: 0:07, 1:30, 2:05:00; from two days on in days. */
import { t } from "../words/index.svelte";

const DAY_SECONDS = 86_400;

export function clockText(leftMs: number): string {
  const seconds = Math.max(0, Math.ceil(leftMs / 1000));
  if (seconds >= 2 * DAY_SECONDS) return t("time.days", { n: Math.floor(seconds / DAY_SECONDS) });
  return clockDigits(seconds);
}

export function clockDigits(seconds: number): string {
  const two = (n: number) => String(n).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
