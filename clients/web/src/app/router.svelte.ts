/** Where the page is. One object for all: there is one address bar. */
import { parseRoute, type Route } from "./routes";

class Router {
  route = $state.raw<Route>(parseRoute(location.hash));

  constructor() {
    window.addEventListener("hashchange", () => (this.route = parseRoute(location.hash)));
  }

  go(hash: string): void {
    location.hash = hash;
  }

  /** As `go`, but the way back does not lead here again. */
  replace(hash: string): void {
    history.replaceState(null, "", hash);
    this.route = parseRoute(hash);
  }
}

export const router = new Router();
