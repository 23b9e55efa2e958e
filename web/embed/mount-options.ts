import type { CallbackName, EndUserType, UserType, View } from '../contract/callbacks.js';
import type { Callbacks, MountOptions, Prefill, UnitAddress } from '../contract/options.js';
import { CALLBACK_NAMES } from '../contract/read-messages.js';
import {
  PREFILL_READERS,
  readApplicationFee,
  readEndUserType,
  readPrefill,
  readProductId,
  readUnitAddress,
  readUserType,
  readUuid,
  readView,
} from '../contract/read-values.js';
import type { Reader } from '../contract/readers.js';
import { nameUnknown } from './console.js';
import { type REJECTIONS, rejection } from './rejections.js';

export interface Mount {
  readonly view: View;
  readonly element: HTMLElement;
  readonly unitAddress: UnitAddress | null;
  readonly userType: UserType;
  readonly endUserType: EndUserType | null;
  readonly applicationFee: number | null;
  readonly productId: number | null;
  readonly screeningId: string | null;
  readonly prefill: Prefill;
  /** Names of prefill fields that are unknown or whose values are not strings. */
  readonly invalidPrefillFields: readonly string[];
  readonly callbacks: Callbacks;
}

const OPTIONS = [
  'selector',
  'element',
  'unitAddress',
  'endUserType',
  'userType',
  'applicationFee',
  'productId',
  'screeningId',
  'prefill',
] as const satisfies (keyof MountOptions)[];

type Given = { readonly [Name in (typeof OPTIONS)[number] | CallbackName]?: unknown };

/** Throws the plain error with which `mount` rejects. */
export function readMount(givenView: unknown, given: unknown): Mount {
  const view = readView(givenView);
  if (view === undefined) throw rejection('view');
  if (typeof given !== 'object' || given === null) throw rejection('mountOptions');
  const options = given as Given;
  const read = <T>(name: keyof Given & keyof typeof REJECTIONS, reader: Reader<T>): T | null => {
    if (options[name] === undefined) return null;
    const value = reader(options[name]);
    if (value === undefined) throw rejection(name);
    return value;
  };
  const unitAddress = read('unitAddress', readUnitAddress);
  if (view === 'screening' && unitAddress === null) throw rejection('unitAddress');
  const screeningId = read('screeningId', readUuid);
  // The views `report` and `rights` show an existing screening.
  if (/^r/.test(view) && screeningId === null) throw rejection('screeningIdMissing');
  const known: readonly string[] = [...OPTIONS, ...CALLBACK_NAMES];
  nameUnknown(Object.keys(given).filter((name) => !known.includes(name)));
  return {
    view,
    unitAddress,
    userType: read('userType', readUserType) ?? 'CONSUMER',
    endUserType: read('endUserType', readEndUserType),
    applicationFee: read('applicationFee', readApplicationFee),
    productId: read('productId', readProductId),
    screeningId,
    prefill: read('prefill', readPrefill) ?? {},
    invalidPrefillFields: invalidFieldsOf(options.prefill ?? {}),
    callbacks: readCallbacks(options),
    element: findElement(options),
  };
}

export const isCallbackName = (name: unknown): name is CallbackName => CALLBACK_NAMES.includes(name as CallbackName);

function readCallbacks(options: Given): Callbacks {
  const given = CALLBACK_NAMES.map((name) => [name, options[name]] as const).filter(([, value]) => value !== undefined);
  if (given.some(([, callback]) => typeof callback !== 'function')) throw rejection('callback');
  return Object.fromEntries(given);
}

function invalidFieldsOf(prefill: object): string[] {
  return Object.entries(prefill).flatMap(([name, value]) => {
    const read = Object.hasOwn(PREFILL_READERS, name) ? PREFILL_READERS[name as keyof Prefill] : undefined;
    return value === undefined || read?.(value) !== undefined ? [] : [name];
  });
}

function findElement({ selector, element }: Given): HTMLElement {
  if ((selector === undefined) === (element === undefined)) throw rejection('selectorOrElement');
  const found = selector === undefined ? element : query(selector);
  if (found === null) throw rejection('selectorMatchesNothing');
  if (!(found instanceof HTMLElement)) throw rejection('element');
  if (!found.isConnected) throw rejection('elementNotInPage');
  return found;
}

function query(selector: unknown): Element | null {
  if (typeof selector !== 'string') throw rejection('selector');
  try {
    return document.querySelector(selector);
  } catch {
    throw rejection('selector');
  }
}
