// The test persons as chips, a hint for the chosen person, and the test data that the visitor copies.
import { button, byId, element } from './elements.js';
import { say, type Texts } from './language.js';
import { FIRST, MORE, type Persona, testDataOf } from './personas.js';

const COPIED_FOR_MS = 2_000;

export class PersonaChips {
  chosen: Persona = FIRST[0] as Persona;

  constructor(private readonly onChoose: (persona: Persona) => void) {}

  draw(): void {
    byId('personas', HTMLElement).replaceChildren(...FIRST.map((persona) => this.chip(persona)));
    byId('more-personas', HTMLElement).replaceChildren(
      ...MORE.map(({ group, people }) => {
        const part = element('div', '', 'group');
        const chips = element('div', '', 'chips');
        chips.append(...people.map((persona) => this.chip(persona)));
        part.append(element('h3', say(group)), chips);
        return part;
      }),
    );
    this.mark();
  }

  private chip(persona: Persona): HTMLButtonElement {
    const chip = button(
      say(persona.name),
      () => {
        this.chosen = persona;
        this.mark();
        this.onChoose(persona);
      },
      'chip',
    );
    chip.dataset['persona'] = persona.lastName;
    chip.title = `Robin ${persona.lastName}`;
    return chip;
  }

  private mark(): void {
    const people = [...FIRST, ...MORE.flatMap(({ people }) => people)];
    for (const [index, chip] of document.querySelectorAll<HTMLElement>('[data-persona]').entries())
      chip.ariaPressed = String(people[index] === this.chosen);
    const { lastName, hint } = this.chosen;
    const person: Texts = [`You apply as Robin ${lastName}.`, `Usted solicita como Robin ${lastName}.`];
    byId('hint', HTMLElement).textContent = `${say(person)} ${hint === undefined ? '' : say(hint)}`;
    byId('test-data', HTMLElement).replaceChildren(...testDataOf(this.chosen).map(copier));
  }
}

/** Copies a value, because the component does not let the page fill it in. */
function copier([label, value]: readonly [Texts, string]): HTMLButtonElement {
  const text = `${say(label)} ${value}`;
  const made = button(
    text,
    () => {
      void navigator.clipboard.writeText(value).then(() => {
        made.textContent = say(['Copied', 'Copiado']);
        setTimeout(() => (made.textContent = text), COPIED_FOR_MS);
      });
    },
    'chip copy',
  );
  made.title = say(['Copy', 'Copiar']);
  return made;
}
