/** Deletes what a test file has left in an account, for the next file that uses it. */
import type { JsonAnswer } from '#net/http';

/** A Management API call of the account; `path` without `/frontdoor/{id}`. */
type AccountCall = (method: 'GET' | 'DELETE', path: string) => Promise<JsonAnswer>;
type Collection = 'custom-frontends' | 'shares' | 'policies' | 'auth-providers' | 'environments';

interface Left {
  readonly id: string;
  /** Names a share in its path. */
  readonly token?: string;
}

/** Empties each of the collections, in this order. Rejects when something cannot be deleted. */
export async function clearAccount(call: AccountCall, collections: readonly Collection[]): Promise<void> {
  for (const collection of collections) {
    const listOf = async (): Promise<readonly Left[]> =>
      ((await done('GET', `/${collection}`)) as { readonly content: readonly Left[] }).content;
    for (let left = await listOf(); left.length > 0; left = await listOf())
      for (const { id, token } of left) await done('DELETE', `/${collection}/${token ?? id}`);
  }

  async function done(method: 'GET' | 'DELETE', path: string): Promise<unknown> {
    const { status, json, text } = await call(method, path);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return json;
  }
}
