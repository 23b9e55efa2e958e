// What `npm run test:soak` does more of than `npm test`: rounds, deliveries at once.
export const inSoak = (quick: number, long: number): number => (process.env['SOAK'] === undefined ? quick : long);
