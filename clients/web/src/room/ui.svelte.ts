/** The folder of a game, for components that only need its words. */
import { loadGame, type GameUi } from "../games";

/** `ui` is undefined until it is known whether this page has a folder for the game, and null if it has none. */
export function gameUi(name: () => string): { readonly ui: GameUi | null | undefined } {
  let ui = $state.raw<GameUi | null | undefined>();
  $effect(() => {
    const wanted = name();
    loadGame(wanted).then((found) => { if (wanted === name()) ui = found; }, () => undefined);
  });
  return { get ui() { return ui; } };
}
