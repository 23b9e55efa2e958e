import type { Texts } from '../../journey.js';

export const INCOME = {
  en: {
    consentTitle: 'Confirm your income',
    consentLead:
      'We ask payroll providers about your job and pay. If they have no record, we ask banks about your deposits. The report goes to {account}.',
    agree: 'Agree and continue',
    title: 'We are confirming your income',
    lead: 'This usually takes less than a minute. Please keep this page open, or come back later.',
    opening: 'Starting…',
    PAYROLL: 'Asking payroll providers about your job and pay…',
    BANKING: 'Payroll providers did not answer. Asking about your bank deposits instead…',
    userTitle: 'Log in to confirm your income',
    userLead:
      'Our provider needs you for a moment. Its page opens in a new window. This page continues when you have finished there.',
    openVendor: 'Continue at the provider',
    waiting: 'Waiting for you to finish at the provider…',
    failed: 'We could not confirm your income',
    noMatch: 'Neither payroll providers nor banks have a record that fits.',
    vendorError: 'The providers could not answer.',
    expired: 'No answer came in time.',
    failedLead: 'You can try again now, or contact {account}.',
    stopped: 'We cannot continue right now',
    again: 'Try again',
  },
  es: {
    consentTitle: 'Confirme sus ingresos',
    consentLead:
      'Consultamos a los proveedores de nómina sobre su empleo y su salario. Si no tienen un registro, consultamos a los bancos sobre sus depósitos. El informe lo recibe {account}.',
    agree: 'Aceptar y continuar',
    title: 'Estamos confirmando sus ingresos',
    lead: 'Suele tardar menos de un minuto. No cierre esta página o vuelva más tarde.',
    opening: 'Iniciando…',
    PAYROLL: 'Consultando a los proveedores de nómina sobre su empleo y su salario…',
    BANKING: 'Los proveedores de nómina no respondieron. Consultamos ahora los depósitos en su banco…',
    userTitle: 'Inicie sesión para confirmar sus ingresos',
    userLead:
      'Nuestro proveedor le necesita un momento. Su página se abre en una ventana nueva. Esta página continúa cuando usted haya terminado allí.',
    openVendor: 'Continuar con el proveedor',
    waiting: 'Esperando a que termine con el proveedor…',
    failed: 'No pudimos confirmar sus ingresos',
    noMatch: 'Ni los proveedores de nómina ni los bancos tienen un registro que coincida.',
    vendorError: 'Los proveedores no pudieron responder.',
    expired: 'No llegó ninguna respuesta a tiempo.',
    failedLead: 'Puede intentarlo de nuevo ahora o comunicarse con {account}.',
    stopped: 'No podemos continuar en este momento',
    again: 'Intentar de nuevo',
  },
} satisfies Texts<string>;
