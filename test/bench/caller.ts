// How the benchmarks call a service over HTTP.
import type { Pool } from 'undici';

export interface Caller {
  readonly pool: Pool;
  readonly headers: Record<string, string>;
}

/** Returns the parsed answer, and throws an error unless the status is 200. */
export async function call(
  { pool, headers }: Caller,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<any> {
  const response = await pool.request({ method, path, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`${method} ${path} answered ${response.statusCode}: ${text}`);
  return text === '' ? null : JSON.parse(text);
}
