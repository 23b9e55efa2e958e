// The sandbox's collector of device fingerprints. The script sets the global DeviceFingerprint, and nothing else.

interface Fingerprint {
  readonly jscPayload: string;
  readonly hdimPayload: string;
}

/** The fingerprint is derived from data that every page can read, so a browser always has the same one. The script stores nothing. */
async function collect(): Promise<Fingerprint> {
  const device = [
    navigator.userAgent,
    navigator.language,
    navigator.hardwareConcurrency,
    `${screen.width}x${screen.height}x${screen.colorDepth}`,
    Intl.DateTimeFormat().resolvedOptions().timeZone,
  ].join('\n');
  return {
    jscPayload: `sandbox-jsc.${hashOf(`jsc\n${device}`)}`,
    hdimPayload: `sandbox-hdim.${hashOf(`hdim\n${device}`)}`,
  };
}

/** Four rounds of FNV-1a with different starting values, in hexadecimal. */
function hashOf(text: string): string {
  return [0, 1, 2, 3]
    .map((start) => {
      let hash = (0x811c9dc5 ^ start) >>> 0;
      for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
      return hash.toString(16).padStart(8, '0');
    })
    .join('');
}

Object.defineProperty(globalThis, 'DeviceFingerprint', { value: { collect }, configurable: true, enumerable: true });
