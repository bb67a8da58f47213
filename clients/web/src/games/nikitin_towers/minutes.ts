/** The usual length of a game in minutes, from the fewest players to the most. */
export default [15, 25] as const;
