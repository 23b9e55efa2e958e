// Which component shows which place. A step adds its line here.
import type { ComponentType } from 'preact';
import type { StepProps } from '../journey.js';
import type { Place } from '../place.js';
import { Done, Verified, Waiting } from '../screens.js';

export const SCREENS: Readonly<Partial<Record<Place, ComponentType<StepProps>>>> = {
  waiting: Waiting,
  verified: Verified,
  done: Done,
};
