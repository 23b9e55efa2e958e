// The landlord's part of the demo page: reads a shared report with the secret key and passes it on. This server stores no part of the report.
import { createHash } from 'node:crypto';

const SESSION_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
/** Only the demo page may show the report in a frame. */
const FRAMED_HERE = "frame-ancestors 'self'";
const REASONS = {
  en: {
    unknown: 'No such report is shared with this landlord.',
    stopped: 'The renter has stopped sharing this report.',
    refused: 'The service answered with',
  },
  es: {
    unknown: 'Con este propietario no se comparte tal informe.',
    stopped: 'El inquilino dejó de compartir este informe.',
    refused: 'El servicio respondió con',
  },
};

export class Landlord {
  #webhooks;
  #fetchPage;

  /** `fetchPage`: asks the service for a page with the account's secret key. */
  constructor(webhooks, fetchPage) {
    this.#webhooks = webhooks;
    this.#fetchPage = fetchPage;
  }

  /** The report as a page with its headers, while the renter shares it. Webhooks tell whether the renter shares it. */
  async report(account, sessionId, language) {
    const sharing = SESSION_ID.test(sessionId ?? '') ? this.#webhooks.sharing(account, sessionId) : 'unknown';
    const reasons = REASONS[language];
    if (sharing !== 'shared') return notice(language, reasons[sharing]);
    const { status, type, policy, body } = await this.#fetchPage(
      account,
      `/v1/reports/${sessionId}?language=${language}`,
    );
    if (status !== 200 || !type.startsWith('text/html'))
      return notice(language, `${reasons.refused} ${status}.`, status);
    return {
      status,
      body,
      headers: {
        'content-type': type,
        'content-security-policy': `${policy ?? "default-src 'none'"}; ${FRAMED_HERE}`,
      },
    };
  }
}

const STYLE = ':root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}';

function notice(language, text, status = 404) {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  return {
    status,
    body: `<!doctype html><html lang="${language}"><meta charset="utf-8"><title>${text}</title><style>${STYLE}</style><p>${text}</p>`,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; ${FRAMED_HERE}`,
    },
  };
}
