/** What one does about dead letters, in another terminal; shown while there are some. Within 80 columns. */
export const LETTERS_HINT = 'dead letters: npm run -s dogwatch -- replay ls, then replay plan, replay apply';
