// The device check. The collector's script runs in the frame, and its result is part of the submission.
import type { ComponentErrorCode } from '../contract/callbacks.js';
import type { FrameSettings } from '../contract/frame-settings.js';
import type { Fingerprint } from './api/wire.js';
import { forgetScript, loadScript } from './trusted-types.js';

export type Collected =
  | { readonly ok: true; readonly device: Fingerprint }
  | { readonly ok: false; readonly code: Extract<ComponentErrorCode, `FINGERPRINT_${string}`> };

const COLLECTION_LIMIT_MS = 10_000;

declare global {
  /** The collector's script sets this global. */
  var DeviceFingerprint: { collect(): Promise<unknown> } | undefined;
}

/** Never throws. A call after a failure loads the collector again. */
export async function collectFingerprint(settings: FrameSettings): Promise<Collected> {
  if (!(await loadScript(settings, settings.fingerprintScriptUrl)))
    return { ok: false, code: 'FINGERPRINT_SCRIPT_LOAD_FAILED' };
  if (typeof globalThis.DeviceFingerprint?.collect !== 'function') {
    forgetScript(settings.fingerprintScriptUrl);
    return { ok: false, code: 'FINGERPRINT_SDK_UNAVAILABLE' };
  }
  const limit = new Promise<null>((resolve) => setTimeout(resolve, COLLECTION_LIMIT_MS, null));
  const device = await Promise.race([collect(globalThis.DeviceFingerprint), limit]);
  if (device) return { ok: true, device };
  forgetScript(settings.fingerprintScriptUrl);
  return { ok: false, code: 'FINGERPRINT_COLLECTION_FAILED' };
}

async function collect(collector: { collect(): Promise<unknown> }): Promise<Fingerprint | null> {
  try {
    const { jscPayload, hdimPayload } = Object(await collector.collect()) as Record<string, unknown>;
    if (typeof jscPayload !== 'string' || jscPayload === '') return null;
    return { jscPayload, ...(typeof hdimPayload === 'string' && hdimPayload !== '' ? { hdimPayload } : {}) };
  } catch {
    // The collector is third-party code. If it throws anything, the submission has no fingerprint.
    return null;
  }
}
