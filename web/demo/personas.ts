// The persons of the sandbox, by the last names that select a behaviour of its vendors (docs/sandbox.md).
import type { Prefill } from '../contract/options.js';
import type { Texts } from './language.js';

export interface Persona {
  readonly lastName: string;
  readonly name: Texts;
  /** Tells the visitor how to continue. */
  readonly hint?: Texts;
  /** A card that shows the behaviour, or else a card whose payment succeeds. */
  readonly card?: string;
  /** The right code. */
  readonly code?: string;
}

const PAYS = '4242 4242 4242 4242';
const DECLINES = '4000 0000 0000 0002';

/** The first person is on the page from the beginning. */
export const FIRST: readonly Persona[] = [
  { lastName: 'Rivera', name: ['Good renter', 'Buen inquilino'] },
  {
    lastName: 'Otptest',
    name: ['Asked for a code', 'Con código'],
    hint: ['The right code is 123456.', 'El código correcto es 123456.'],
    code: '123456',
  },
  {
    lastName: 'Kbatest',
    name: ['Asked questions', 'Con preguntas'],
    hint: [
      'Right is answer 1 to question 1, 2 to question 2, and so on.',
      'Lo correcto es la respuesta 1 a la pregunta 1, la 2 a la 2, y así.',
    ],
  },
  { lastName: 'Evictiontest', name: ['Recent eviction', 'Desalojo reciente'] },
  {
    lastName: 'Frozentest',
    name: ['Frozen file', 'Expediente congelado'],
    hint: ['The report is refused after the payment.', 'El informe se niega después del pago.'],
  },
  {
    lastName: 'Rivera',
    name: ['Card declined', 'Tarjeta rechazada'],
    hint: [
      'Pay with the card that is declined, then with any other.',
      'Pague con la tarjeta rechazada y luego con otra.',
    ],
    card: DECLINES,
  },
  { lastName: 'Fraudtest', name: ['Refused', 'Rechazado'] },
];

export const MORE: readonly { readonly group: Texts; readonly people: readonly Persona[] }[] = [
  {
    group: ['Identity', 'Identidad'],
    people: [
      {
        lastName: 'Choicetest',
        name: ['Code or questions', 'Código o preguntas'],
        hint: [
          'The right code is 123456; right answers are 1, 2, 3, 4.',
          'El código es 123456; las respuestas, 1, 2, 3, 4.',
        ],
        code: '123456',
      },
      { lastName: 'Lockedtest', name: ['Locked at the first wrong code', 'Bloqueo al primer código incorrecto'] },
      { lastName: 'Expiredtest', name: ['Session over before the code', 'Sesión vencida antes del código'] },
      { lastName: 'Alreadytest', name: ['Known from before', 'Ya conocido'] },
      { lastName: 'Slowtest', name: ['Slow vendor', 'Proveedor lento'] },
      { lastName: 'Notfound', name: ['Identity not found', 'Identidad no encontrada'] },
      { lastName: 'Sanctiontest', name: ['On the sanctions list', 'En la lista de sanciones'] },
      { lastName: 'Alerttest', name: ['On the alert list', 'En la lista de alertas'] },
      { lastName: 'Deceasedtest', name: ['Reported as deceased', 'Declarado fallecido'] },
      { lastName: 'Addresstest', name: ['Unknown address', 'Dirección desconocida'] },
    ],
  },
  {
    group: ['Report', 'Informe'],
    people: [
      { lastName: 'Backgroundtest', name: ['Background record', 'Antecedente'] },
      { lastName: 'Bankruptcytest', name: ['Bankruptcy', 'Bancarrota'] },
      { lastName: 'Fraudalerttest', name: ['Fraud alert on file', 'Alerta de fraude'] },
      { lastName: 'Activedutytest', name: ['Active-duty alert', 'Alerta de servicio activo'] },
      { lastName: 'Newaddresstest', name: ['Address differs', 'Dirección distinta'] },
      { lastName: 'Nohittest', name: ['No credit file', 'Sin expediente'] },
      { lastName: 'Thinfiletest', name: ['No score', 'Sin puntaje'] },
    ],
  },
  {
    group: ['Income', 'Ingresos'],
    people: [
      { lastName: 'Nopayrolltest', name: ['Found by banking only', 'Solo por el banco'] },
      { lastName: 'Noincometest', name: ['No income found', 'Sin ingresos'] },
      { lastName: 'Incomeerrortest', name: ['Income vendor fails', 'Falla el proveedor de ingresos'] },
      { lastName: 'Slowincometest', name: ['Decided by hand', 'Se decide a mano'] },
    ],
  },
  {
    group: ['A vendor in trouble', 'Un proveedor con problemas'],
    people: [
      { lastName: 'Flakytest', name: ['Down once', 'Caído una vez'] },
      { lastName: 'Downtest', name: ['Down', 'Caído'] },
      { lastName: 'Timeouttest', name: ['Never answers', 'No responde'] },
      { lastName: 'Resettest', name: ['Connection breaks', 'Conexión cortada'] },
      { lastName: 'Redirecttest', name: ['Answers with a redirect', 'Responde con una redirección'] },
      { lastName: 'Garbledtest', name: ['Answers without JSON', 'Responde sin JSON'] },
    ],
  },
];

/** SSNs with area 666 are never issued to people. For each of these numbers, the sandbox invents the file of a good renter. */
const SSNS = { first: 666_443_210, step: 551, count: 1_000 };

/** Values that only the person may enter, because the component does not accept them from the page. The SSN differs each time. */
export const testDataOf = ({ card = PAYS, code }: Persona): readonly (readonly [Texts, string])[] => [
  [['SSN', 'SSN'], String(SSNS.first + SSNS.step * chance(SSNS.count)).replace(/(...)(..)(....)/, '$1-$2-$3')],
  [['Card', 'Tarjeta'], card],
  ...(code === undefined ? [] : [[['Code', 'Código'], code] as const]),
];

const chance = (below: number): number => Math.floor(Math.random() * below);

/** The birthday and phone differ each time, so that repeated trials do not reach the limits against abuse. */
export function prefillOf({ lastName }: Persona): Prefill {
  return {
    firstName: 'Robin',
    lastName,
    dateOfBirth: `041${chance(10)}19${60 + chance(40)}`,
    phoneNumber: `51255501${String(chance(100)).padStart(2, '0')}`,
    email: 'robin@example.test',
    currentAddress: '100 Main St',
    currentCity: 'Austin',
    currentState: 'TX',
    currentZip: '78701',
  };
}
