/** Actions to take when a room is entered, planned by a button elsewhere. Each plan is carried out once. */

export interface Plan {
  sit: boolean;
  /** Levels of the bots to seat. */
  bots: readonly string[];
  ready: boolean;
  start: boolean;
}

const plans = new Map<string, Plan>();

export function planFor(code: string, plan: Plan): void {
  plans.set(code, plan);
}

export function takePlan(code: string): Plan | null {
  const plan = plans.get(code) ?? null;
  plans.delete(code);
  return plan;
}
