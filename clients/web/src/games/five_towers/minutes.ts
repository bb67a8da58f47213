/** The usual length of a game in minutes, from the fewest players to the most. */
export default [10, 20] as const;
