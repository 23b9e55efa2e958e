// Every process recognises a page that the service served (docs/contract/platform.md#printing).
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isServedPage, markedPage, requestOf } from '../../../src/modules/reports/application/served-pages.js';
import type { Vault } from '../../../src/ports/vault.js';
import type { Accounts } from '../../../src/published/accounts.js';
import type { Screenings } from '../../../src/published/screenings.js';

function pagesWith(key: string) {
  const vault = { installationKey: async (name: string) => Buffer.from(key + name) } as unknown as Vault;
  return {
    marked: (sessionId: string, page: string) => markedPage(vault, sessionId, page),
    isServed: (sessionId: string, page: string) => isServedPage(vault, sessionId, page),
  };
}

describe('a served page', () => {
  it('is recognised by other processes of the installation that served it, but not by another installation', async () => {
    const page = await pagesWith('a').marked('session', '<p>Ada</p>');
    expect(page).toMatch(/^<p>Ada<\/p><!-- As served: [A-Za-z0-9+/]{43}= -->$/);
    expect(await pagesWith('a').isServed('session', page)).toBe(true);
    expect(await pagesWith('b').isServed('session', page)).toBe(false);
    expect(await pagesWith('a').isServed('another', page)).toBe(false);
  });

  it('with any change is not recognised', async () => {
    const pages = pagesWith('a');
    const text = fc.string({ unit: 'binary', maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(text, text, fc.nat(), fc.nat(3), async (before, put, at, cut) => {
        const page = await pages.marked('session', before);
        const place = at % (page.length + 1);
        const changed = page.slice(0, place) + put + page.slice(place + cut);
        expect(await pages.isServed('session', changed)).toBe(changed === page);
      }),
    );
  });

  it.each(['', '-->', '<!-- As served:  -->', '\ud800'])('that consists of %j is not recognised', async (page) => {
    expect(await pagesWith('a').isServed('session', page)).toBe(false);
  });
});

describe('the request that led to a report', () => {
  const at = '2026-11-25T10:00:00.000Z';
  const screened = {
    accountId: 'account',
    environment: 'test',
    endUserType: null,
    unitAddress: '12 Elm Street',
    verifiedBy: 'otp',
    verifiedAt: at,
  };
  const accounts = {
    find: async (id: string) => ({ brand: { displayName: `Name of ${id}`, logo: 'bG9nbw==' } }),
  } as unknown as Accounts;
  const asked = (session: object | null, reads: string[]) =>
    requestOf(
      'session',
      new Proxy({}, { get: (_none, read: string) => async () => (reads.push(read), session) }) as Screenings,
      accounts,
    );

  it('is read from the session once', async () => {
    const reads: string[] = [];
    expect(await asked(screened, reads)).toEqual({
      environment: 'test',
      requestedBy: 'Name of account',
      logo: 'data:image/png;base64,bG9nbw==',
      endUserType: null,
      property: '12 Elm Street',
      verified: { how: 'otp', at },
    });
    expect(reads).toEqual(['screenedFor']);
  });

  it('contains no verification when the session is no longer verified', async () => {
    expect(await asked({ ...screened, verifiedAt: null }, [])).toMatchObject({ verified: null });
  });
});
