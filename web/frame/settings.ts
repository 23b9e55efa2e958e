// The settings that the service has written into this page.
import type { FrameSettings } from '../contract/frame-settings.js';

export const settings = JSON.parse(
  document.querySelector<HTMLMetaElement>('meta[name=service-settings]')?.content ?? '',
) as FrameSettings;
