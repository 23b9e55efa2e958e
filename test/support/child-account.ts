import type { Credentials, Service } from './service.js';

/** Opens a prepaid child account, with a publishable key for the test pages. */
export async function childOf(
  service: Service,
  parent: keyof Credentials['accounts'],
): Promise<{ readonly accountId: string; readonly key: string }> {
  const parentId = (await service.credentials()).accounts[parent].accountId;
  const created = await service.ops(
    'accounts',
    'create',
    '--name',
    'Related',
    '--parent',
    parentId,
    '--prepaid',
    'yes',
  );
  const { accountId } = JSON.parse(created.stdout);
  const options = ['--kind', 'publishable', '--environment', 'test', '--origins', 'http://localhost:5173'];
  const { key } = JSON.parse((await service.ops('keys', 'issue', accountId, ...options)).stdout);
  return { accountId, key };
}
