import type { MountedView, ServiceInstance } from '../contract/options.js';
import { FrameView, type Host } from './frame-view.js';
import { readDress } from './init-options.js';
import type { Settings } from './settings.js';
import { Listeners } from './listeners.js';
import { isCallbackName, readMount } from './mount-options.js';
import { rejection } from './rejections.js';
import { Tokens } from './tokens.js';

/** The views of all instances, by the element that contains them. */
const viewsByElement = new WeakMap<HTMLElement, FrameView>();

export function createInstance(settings: Settings): ServiceInstance {
  const views = new Set<FrameView>();
  const listeners = new Listeners();
  const tokens = new Tokens(settings, (exchanged) => {
    for (const view of [...views]) view.settled(exchanged);
  });
  let isDestroyed = false;
  const host: Host = {
    settings,
    tokens,
    listeners,
    closed(view) {
      views.delete(view);
      viewsByElement.delete(view.mount.element);
      if (views.size === 0) tokens.rest();
    },
  };

  return {
    async mount(view, options): Promise<MountedView> {
      if (isDestroyed) throw rejection('destroyed');
      const mount = readMount(view, options);
      for (const other of [...views, viewsByElement.get(mount.element)]) if (other?.isInPage() === false) other.close();
      if (viewsByElement.has(mount.element)) throw rejection('elementInUse');
      const isSame = ({ mount: other }: FrameView): boolean =>
        other.view === mount.view && other.screeningId === mount.screeningId;
      if ([...views].some(isSame)) throw rejection('alreadyMounted');
      const mounted = new FrameView(mount, host);
      views.add(mounted);
      viewsByElement.set(mount.element, mounted);
      mounted.open();
      return {
        get screeningId() {
          return mounted.screeningId;
        },
        unmount: () => mounted.close(),
      };
    },

    on(name, listener) {
      if (isDestroyed) throw rejection('destroyed');
      if (!isCallbackName(name)) throw rejection('callbackName');
      if (typeof listener !== 'function') throw rejection('callback');
      return listeners.add(name, listener);
    },

    update(options) {
      const { locale = settings.locale, appearance = settings.appearance } = options;
      Object.assign(settings, readDress(locale, appearance));
      for (const view of views) view.dress();
    },

    destroy() {
      isDestroyed = true;
      for (const view of [...views]) view.close();
      listeners.clear();
      tokens.forget();
    },
  };
}
