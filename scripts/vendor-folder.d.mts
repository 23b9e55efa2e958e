/** Makes the folder of a vendor, and returns the lines that tell the next steps. */
export function makeVendor(vendors: string, args: readonly string[]): Promise<readonly string[]>;
