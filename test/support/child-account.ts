import type { Credentials, Service } from './service.js';

/** Opens a prepaid child account with a publishable key for the parent's pages. */
export async function childOf(
  service: Service,
  parent: keyof Credentials['accounts'],
): Promise<{ readonly accountId: string; readonly key: string }> {
  const { accountId: parentId, allowedOrigins } = (await service.credentials()).accounts[parent];
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
  const options = ['--kind', 'publishable', '--environment', 'test', '--origins', allowedOrigins[0] as string];
  const { key } = JSON.parse((await service.ops('keys', 'issue', accountId, ...options)).stdout);
  return { accountId, key };
}
