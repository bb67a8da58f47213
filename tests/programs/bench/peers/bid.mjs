// The rules of the bid game, as in ../games/bid: the same state, of 91 leaf fields, and the same bids. A server of each framework
// plays by them on state of its own kind, so nothing here makes or copies state.

export const SEATS = 4;
export const SLOTS = 20;
export const TOWERS = 4;
export const COINS = 100;
const KINDS = ["wood", "stone", "gold", "glass"];
const NUMBERS = 1000;
const DICE = 13;

/** The slots of the display at the start. */
export const display = Array.from({ length: SLOTS }, (_, id) => ({ id, kind: KINDS[id % KINDS.length], value: (id * 7) % DICE }));

/** Whether this seat may bid this number now. */
export function allows(state, seat, number) {
  return seat === state.turn && Number.isInteger(number) && number >= 0 && number < NUMBERS;
}

/** Make a bid: changes six fields of the state, two of which say what comes next. */
export function bid(state, player, slot, seat, number) {
  player.coins = (player.coins + number) % NUMBERS;
  player.bid = number;
  player.towers[number % TOWERS] += 1;
  slot.value = number % DICE;
  state.seq += 1;
  state.turn = (seat + 1) % SEATS;
}
