// What `npm run test:soak` does more of than `npm test`: rounds, deliveries at once, and what takes long by its nature.
export const isSoak = process.env['SOAK'] !== undefined;

export const inSoak = (quick: number, long: number): number => (isSoak ? long : quick);
