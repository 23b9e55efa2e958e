// The component of each screen. A new step adds its line here.
import type { ComponentType } from 'preact';
import type { StepProps } from '../journey.js';
import type { Place } from '../place.js';
import { Done, Verified, Waiting } from '../screens.js';
import { Details } from './details/details.js';
import { Ended } from './ended/ended.js';
import { IncomeStep } from './income/income.js';
import { ChoiceStep } from './step-up/choice.js';
import { KbaStep } from './step-up/kba.js';
import { OtpStep } from './step-up/otp.js';
import { PaymentStep } from './payment/payment.js';
import { ReportStep } from './report/report.js';
import { RightsStep } from './rights/rights.js';

export const SCREENS: Readonly<Partial<Record<Place, ComponentType<StepProps>>>> = {
  details: Details,
  choice: ChoiceStep,
  otp: OtpStep,
  kba: KbaStep,
  income: IncomeStep,
  waiting: Waiting,
  ended: Ended,
  payment: PaymentStep,
  report: ReportStep,
  share: ReportStep,
  rights: RightsStep,
  verified: Verified,
  done: Done,
};
