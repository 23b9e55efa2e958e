import { INSTALLATION_VERSIONS, type Terms } from '../../../kernel/terms.js';

/** The text to which a person agrees on the pages of an account without terms of its own. A changed text needs a new version. */
export const INSTALLATION_TERMS: Terms = {
  version: `${INSTALLATION_VERSIONS}1`,
  text: {
    en: [
      'I am the person whose details I enter here, and they are true and complete. I understand that they are used to confirm my identity and to find my file.',
      'I authorize the landlord or agent who asked me for this screening, and those who act for them, under the Fair Credit Reporting Act to obtain my consumer report from one or more consumer reporting agencies. The report may contain credit, public record and housing information. It may be used only to decide on my application to rent a home.',
      'This is my written instruction under that Act. I may ask for a copy of the report and a summary of my rights, and I may dispute with the agency what is not correct.',
      'I agree that a one-time code is sent to my phone number by text message, or that I am asked questions that only I can answer, to confirm that it is me. My phone company may charge me for messages.',
      'My report is shared with nobody until I consent to it in a separate step. I can take that consent back later.',
      'My details are kept encrypted. They are used for this screening, to prevent fraud and to keep the records that the law requires, and for nothing else. They are not sold.',
    ],
    es: [
      'Soy la persona cuyos datos escribo aquí, y los datos son verdaderos y completos. Entiendo que se usan para confirmar mi identidad y para encontrar mi expediente.',
      'Autorizo al propietario o agente que me pidió esta evaluación, y a quienes actúan en su nombre, conforme a la Ley de Informe Imparcial de Crédito (Fair Credit Reporting Act), a obtener mi informe del consumidor de una o más agencias de informes del consumidor. El informe puede contener información de crédito, de registros públicos y de vivienda. Solo se puede usar para decidir sobre mi solicitud de alquiler.',
      'Esta es mi instrucción por escrito conforme a esa ley. Puedo pedir una copia del informe y un resumen de mis derechos, y puedo disputar ante la agencia lo que no sea correcto.',
      'Acepto que se envíe un código de un solo uso a mi número de teléfono por mensaje de texto, o que se me hagan preguntas que solo yo puedo responder, para confirmar que soy yo. Mi compañía telefónica puede cobrarme por los mensajes.',
      'Mi informe no se comparte con nadie hasta que yo lo consienta en un paso aparte. Puedo retirar ese consentimiento más adelante.',
      'Mis datos se guardan cifrados. Se usan para esta evaluación, para prevenir el fraude y para conservar los registros que la ley exige, y para nada más. No se venden.',
    ],
  },
};

/**
 * The text to which a person agrees on the component's page before an inquiry about income (web/frame/steps/income/texts.ts). The page writes the name
 * of the account in place of `{account}`. A changed text needs a new version.
 */
export const INCOME_TERMS: Terms = {
  version: `${INSTALLATION_VERSIONS}income-1`,
  text: {
    en: [
      'We ask payroll providers about your job and pay. If they have no record, we ask banks about your deposits. The report goes to {account}.',
    ],
    es: [
      'Consultamos a los proveedores de nómina sobre su empleo y su salario. Si no tienen un registro, consultamos a los bancos sobre sus depósitos. El informe lo recibe {account}.',
    ],
  },
};
