// Fills in the details of the embedded component, screen by screen. A test therefore names only fields and texts.
import type { FrameLocator, Locator } from 'playwright-core';
import { TEXTS } from '../../web/frame/steps/details/texts.js';
import { type FieldName, screenOf, SCREENS } from '../../web/frame/steps/details/rules.js';
import { PARTS } from '../../web/frame/parts/texts.js';

export type Language = 'en' | 'es';
/** The texts that a person types. A field without a value stays unchanged. A folded field is unfolded for its value. */
export type Typed = Readonly<Partial<Record<Exclude<FieldName, 'terms'>, string>>>;

export const ANA = {
  firstName: 'Ana',
  lastName: 'Smith',
  dateOfBirth: '04121990',
  phoneNumber: '(415) 555-0134',
  currentAddress: '1 Main St',
  currentCity: 'Oakland',
  currentState: 'CA',
  currentZip: '94105',
} as const satisfies Typed;

/** Types into a field. The whole text is typed at once by default. */
export type TypeInto = (field: Locator, text: string) => Promise<void>;

export class DetailsForm {
  private readonly texts;

  constructor(
    private readonly frame: FrameLocator,
    private readonly language: Language = 'en',
    private readonly typeInto: TypeInto = (field, text) => field.fill(text),
  ) {
    this.texts = TEXTS[language];
  }

  /** A field exists only while its screen is shown. */
  field(name: FieldName): Locator {
    return this.frame.locator(`[data-field=${name}] [name]`);
  }

  problemOf(name: FieldName): Locator {
    return this.frame.locator(`[data-field=${name}] p.problem`);
  }

  /** Goes from the first screen to the last, and accepts the terms there. The form is not sent yet. */
  async fill(typed: Typed): Promise<void> {
    for (const screen of SCREENS) {
      await this.field(FIRST_OF[screen]).waitFor();
      await this.type(
        Object.fromEntries(Object.entries(typed).filter(([name]) => screenOf(name as FieldName) === screen)),
      );
      if (screen !== 'home') await this.press(this.texts.send);
    }
    await this.field('terms').press('Space');
  }

  /** Types into fields of the shown screen. */
  async type(typed: Typed): Promise<void> {
    for (const [name, text] of Object.entries(typed) as [FieldName, string][]) {
      if (name === 'middleName') await this.unfold(name, this.texts.addMiddleName);
      if (name === 'email') await this.unfold(name, this.texts.addEmail);
      if (name === 'currentState') await this.field(name).selectOption(text);
      else await this.typeInto(this.field(name), text);
    }
  }

  /** Goes back to the screen of a field. */
  async backTo(name: FieldName): Promise<void> {
    while (!(await this.field(name).isVisible())) {
      const title = await this.frame.locator('h1').textContent();
      await this.press(PARTS[this.language].back);
      await this.frame.locator('h1').filter({ hasNotText: title! }).waitFor();
    }
  }

  /** Continues to the last screen. */
  async goOn(): Promise<void> {
    while (!(await this.field('terms').isVisible())) {
      const title = await this.frame.locator('h1').textContent();
      await this.press(this.texts.send);
      await this.frame.locator('h1').filter({ hasNotText: title! }).waitFor();
    }
  }

  private async unfold(name: FieldName, add: string): Promise<void> {
    if (!(await this.field(name).isVisible())) await this.press(add);
  }

  /** The keyboard is used, because a screen that was just opened still moves. */
  private press(name: string): Promise<void> {
    return this.frame.getByRole('button', { name, exact: true }).press('Enter');
  }
}

const FIRST_OF = { about: 'firstName', numbers: 'phoneNumber', home: 'currentAddress' } as const;
