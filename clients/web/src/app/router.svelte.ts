/** The current route. One object for all: there is one address bar. */
import { hashOfPath, parseRoute, type Route } from "./routes";

/** The page of the present address. From now on the address is a fragment below the root. */
function arrived(): Route {
  const { pathname, search, hash } = location;
  const wanted = hash.startsWith("#/") ? hash : hashOfPath(pathname, search);
  if (wanted === null) return { page: "nowhere" };
  if (pathname !== "/") history.replaceState(null, "", `/${wanted}`);
  return parseRoute(wanted || hash);
}

/** Milliseconds between two replaced addresses: browsers refuse a page that replaces them faster for long. */
const PAUSE_MS = 250;

class Router {
  route = $state.raw<Route>(arrived());
  /** The address that waits for its turn; null: none. */
  #waiting: string | null = null;
  /** The address that was written last by `replace`. */
  #written = "";
  #timer = 0;

  constructor() {
    window.addEventListener("hashchange", () => {
      this.#waiting = null;
      this.route = arrived();
    });
    window.addEventListener("pagehide", () => this.#write());
  }

  go(hash: string): void {
    this.#waiting = null;
    location.hash = hash;
  }

  /** As `go`, but the way back does not lead here again. The route changes at once, the address bar when it may. */
  replace(hash: string): void {
    this.route = parseRoute(hash);
    this.#waiting = hash;
    if (this.#timer) return;
    this.#written = location.hash;
    this.#write();
    this.#timer = window.setTimeout(() => {
      this.#timer = 0;
      this.#write();
    }, PAUSE_MS);
  }

  #write(): void {
    // A link that was followed meanwhile is newer.
    if (this.#waiting !== null && location.hash === this.#written) {
      history.replaceState(null, "", this.#waiting);
      this.#written = location.hash;
    }
    this.#waiting = null;
  }
}

export const router = new Router();
